import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Connections to one host, as many as a busy page uses. */
const SOCKETS = 16
/** Milliseconds without a byte after which a part counts as failed: less than the time after which the browser is ended. */
const SILENT_MS = 18_000
/** An edge that is busy is asked again after this time in ms, so often. */
const RETRY_MS = 400
const RETRIES = 4

const agents = {
  'http:': new HttpAgent({ keepAlive: true, maxSockets: SOCKETS }),
  // The edge's own certificate need not name the loopback address; other hosts are reached by tunnels.
  'https:': new HttpsAgent({ keepAlive: true, maxSockets: SOCKETS, rejectUnauthorized: false }),
}
const PASSED = ['content-type', 'content-encoding', 'content-length', 'access-control-allow-origin'] as const

/**
 * Answers a request of the page by that of another host. Returns the reason if the picture would lack a part that exists; a part that does not exist
 * is no fault.
 */
export async function forward(url: URL, asked: IncomingMessage, response: ServerResponse): Promise<string | null> {
  try {
    for (let tries = 0; ; tries++) {
      const answer = await ask(url, asked)
      const status = answer.statusCode ?? 502
      if ((status === 429 || status === 503) && tries < RETRIES && !response.destroyed) {
        answer.resume()
        await sleep(RETRY_MS * (tries + 1))
        continue
      }
      const headers = Object.fromEntries(
        PASSED.flatMap((name) => (answer.headers[name] ? [[name, answer.headers[name]]] : [])),
      )
      response.writeHead(status, { ...headers, 'cache-control': 'no-store' })
      await pipeline(answer, response)
      return isFault(status) ? `${url.pathname} is answered with ${status}` : null
    }
  } catch (error) {
    // The page itself gives up tiles of places that it no longer shows.
    if (response.destroyed && asked.socket.destroyed) return null
    if (!response.headersSent) response.writeHead(502)
    response.destroy()
    return `${url.pathname} cannot be loaded: ${(error as Error).message}`
  }
}

function isFault(status: number): boolean {
  return status >= 500 || status === 401 || status === 403 || status === 429
}

function ask(url: URL, { method, headers }: IncomingMessage): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const protocol = url.protocol as keyof typeof agents
    const request = protocol === 'https:' ? httpsRequest : httpRequest
    const passed = { accept: headers.accept ?? '*/*', 'accept-encoding': headers['accept-encoding'] ?? '' }
    const sent = request(url, { method, agent: agents[protocol], headers: passed, timeout: SILENT_MS }, resolve)
    sent.on('timeout', () => sent.destroy(new Error('there is no answer')))
    sent.on('error', reject)
    sent.end()
  })
}

/** Connects the page to the https port of a host that it may ask. */
export function tunnel(request: IncomingMessage, socket: Duplex, hosts: readonly string[]): void {
  const { url = '' } = request
  const colon = url.lastIndexOf(':')
  const [host, port] = [url.slice(0, colon), url.slice(colon + 1)]
  socket.on('error', () => {})
  if (!hosts.includes(port === '443' ? host : `${host}:${port}`))
    return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  const other = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    socket.pipe(other).pipe(socket)
  })
  other.setTimeout(SILENT_MS, () => other.destroy())
  other.on('error', () => socket.destroy())
  socket.on('close', () => other.destroy())
}
