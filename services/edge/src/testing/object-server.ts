import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startStorageDoor, type Trouble } from '@gateway/core/object-storage/testing/storage-door.js'
import { dieWithParent } from '@gateway/core/processes/die-with-parent.js'
import { freePort } from '@gateway/core/processes/readiness.js'

export interface ObjectServer {
  readonly url: string
  /** Requests for the files since the start, as `GET /path bytes=...`. */
  readonly requests: string[]
  trouble: Trouble
  /** Awaited before a response is passed on. */
  hold: Promise<void>
  close(): Promise<void>
}

/** Starts a real nginx over a directory, with ETags and ranges, behind a server that simulates faults. */
export async function startObjectServer(directory: string, scratch: string): Promise<ObjectServer> {
  const nginx = await startNginx(directory, scratch)
  const door = await startStorageDoor(nginx.port)
  const server: ObjectServer = {
    url: door.url,
    requests: door.requests,
    trouble: 'none',
    hold: Promise.resolve(),
    async close() {
      await door.close()
      nginx.process.kill('SIGKILL')
      await once(nginx.process, 'exit')
    },
  }
  door.troubleOf = () => server.trouble
  door.before = () => server.hold
  return server
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
