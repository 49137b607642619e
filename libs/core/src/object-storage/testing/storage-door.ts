import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Signer } from '../signer.js'
import type { TestSwift } from './swift.js'

/**
 * The fault injected into a request for an object. `cut`: the connection ends in the middle of a body, in either direction. `slow`: the response
 * is late. `silent`: it never comes. `keys`, `clock`: it is signed again with another secret, or an hour ago. A number is a status; 429 has Retry-After.
 */
export type Trouble = 'none' | '503' | '429' | '403' | 'cut' | 'slow' | 'silent' | 'keys' | 'clock'

export interface StorageDoor {
  readonly url: string
  /** requests since the start, as `GET /path bytes=...` */
  readonly requests: string[]
  /** @param path of the request, with its query */
  troubleOf: (path: string) => Trouble
  /** awaited before a request is forwarded */
  before: (line: string) => Promise<unknown>
  close(): Promise<void>
}

const SLOW_MS = 200
const HOUR_MS = 3_600_000
/** Bytes of a body before the connection is cut. */
const CUT_BYTES = 100

/** Starts a proxy in front of a real storage server on this machine that injects faults. @param signed required for `keys` and `clock` */
export async function startStorageDoor(port: number, signed?: TestSwift): Promise<StorageDoor> {
  const server = http.createServer((request, response) => void answer(request, response))
  const door: StorageDoor = {
    url: '',
    requests: [],
    troubleOf: () => 'none',
    before: async () => {},
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request
    const line = `${method} ${url} ${request.headers.range ?? ''}`.trimEnd()
    door.requests.push(line)
    await door.before(line)
    const trouble = door.troubleOf(url)
    if (trouble === 'silent') return
    if (trouble === 'slow') await sleep(SLOW_MS)
    if (trouble === '503' || trouble === '429' || trouble === '403') {
      request.resume()
      response.writeHead(Number(trouble), trouble === '429' ? { 'retry-after': '1' } : {}).end('not now')
      return
    }
    if (trouble === 'cut' && method !== 'GET' && method !== 'HEAD') return void request.socket.destroy()
    const headers = { ...request.headers, ...signedAnew(request, trouble) }
    // A new connection each time: the server may close a kept one at the moment of its reuse.
    const passed = http.request({ port, path: url, method, headers, agent: false }, (from) => {
      response.writeHead(from.statusCode ?? 500, from.headers)
      // Swift sends the end of a chunked body after a refusal to HEAD, which breaks the connection.
      if (method === 'HEAD') response.end()
      else if (trouble === 'cut' && method === 'GET')
        from.once('data', (chunk: Buffer) =>
          response.write(chunk.subarray(0, CUT_BYTES), () => request.socket.destroy()),
        )
      else from.pipe(response)
    })
    passed.once('error', (error) => response.writableEnded || response.destroy(error))
    request.pipe(passed)
  }

  function signedAnew({ method = '', url = '', headers }: http.IncomingMessage, trouble: Trouble): object {
    if (trouble !== 'keys' && trouble !== 'clock') return {}
    const { s3Region, awsAccessKeyId, awsSecretAccessKey } = (signed as TestSwift).settings
    const [path = '', query = ''] = url.split('?')
    const payload = String(headers['x-amz-content-sha256'])
    const keys = { accessKeyId: String(awsAccessKeyId), secretAccessKey: String(awsSecretAccessKey) }
    const used = trouble === 'keys' ? { ...keys, secretAccessKey: 'another' } : keys
    const at = new Date(Date.now() - (trouble === 'clock' ? HOUR_MS : 0))
    return new Signer(s3Region).sign({ method, host: String(headers.host), path, query, payload }, used, at)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(door, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}
