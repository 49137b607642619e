import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { dieWithParent } from '@gateway/processes/die-with-parent.js'
import { freePort } from './free-port.js'

/** What becomes of a request. `cut`: of an answer's body */
export type Trouble = 'none' | '503' | '429' | '403' | 'cut'

export interface ObjectServer {
  readonly url: string
  /** requests for the files since the start, as `GET /path bytes=...` */
  readonly requests: string[]
  trouble: Trouble
  /** waited for before an answer is handed on */
  hold: Promise<void>
  close(): Promise<void>
}

/** A real nginx over a directory, with ETags and ranges, behind a server that makes the trouble. */
export async function startObjectServer(directory: string, scratch: string): Promise<ObjectServer> {
  const nginx = await startNginx(directory, scratch)
  const door = http.createServer((request, response) => void answer(request, response))
  const server: ObjectServer = {
    url: '',
    requests: [],
    trouble: 'none',
    hold: Promise.resolve(),
    async close() {
      door.closeAllConnections()
      door.close()
      nginx.process.kill('SIGKILL')
      await once(nginx.process, 'exit')
    },
  }
  const answer = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const { method = 'GET', url = '/', headers } = request
    server.requests.push(`${method} ${url} ${headers.range ?? ''}`.trimEnd())
    await server.hold
    const { trouble } = server
    if (trouble === '503' || trouble === '429' || trouble === '403') {
      response.writeHead(Number(trouble), trouble === '429' ? { 'retry-after': '1' } : {}).end('not now')
      return
    }
    // A connection of its own each time: one that is kept may be closed by nginx as it is used again.
    http
      .request({ port: nginx.port, path: url, method, headers, agent: false }, (from) => {
        response.writeHead(from.statusCode ?? 500, from.headers)
        if (trouble === 'cut' && method === 'GET')
          from.once('data', (chunk: Buffer) => response.write(chunk.subarray(0, 100), () => request.socket.destroy()))
        else from.pipe(response)
      })
      .once('error', (error) => response.destroy(error))
      .end()
  }
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  return Object.assign(server, { url: `http://127.0.0.1:${(door.address() as AddressInfo).port}` })
}

async function startNginx(directory: string, scratch: string): Promise<{ port: number; process: ChildProcess }> {
  const port = await freePort()
  const conf = path.join(scratch, 'nginx.conf')
  fs.writeFileSync(
    conf,
    `daemon off; master_process off; pid ${scratch}/nginx.pid; error_log stderr; events {}
     http { access_log off; client_body_temp_path ${scratch}/b; proxy_temp_path ${scratch}/p; fastcgi_temp_path ${scratch}/f;
       uwsgi_temp_path ${scratch}/u; scgi_temp_path ${scratch}/s; server { listen 127.0.0.1:${port}; root ${directory}; } }`,
  )
  const [command = '', ...args] = [...dieWithParent('KILL'), 'nginx', '-p', scratch, '-c', conf]
  const nginx = spawn(command, args, { stdio: 'ignore' })
  while (nginx.exitCode === null) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (isUp) return { port, process: nginx }
    await sleep(20)
  }
  throw new Error(`nginx ended with ${nginx.exitCode}`)
}
