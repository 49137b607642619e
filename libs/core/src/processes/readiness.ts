import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A process that accepts a connection but does not respond within this time is not ready. */
const ANSWER_WITHIN_MS = 2_000

/**
 * Ports below the range from which Linux takes ports for outgoing connections (`ip_local_port_range`, from 32,768). It could take one of that range
 * between its choice and its use.
 */
const FIRST_PORT = 20_000
const PORTS = 12_000

/** True if the readiness probe at this URL returns 200 now. Its certificate, if any, may be for another name. */
export async function isReady(url: string): Promise<boolean> {
  const { get } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  return new Promise((resolve) => {
    const options = { timeout: ANSWER_WITHIN_MS, agent: false, rejectUnauthorized: false }
    const request = get(url, options, (answer) => {
      resolve(answer.statusCode === 200)
      request.destroy()
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
    request.on('close', () => resolve(false))
  })
}

/** Returns a loopback TCP port on which no process listens at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(PORTS)
    const probe = createServer().listen(port, '127.0.0.1')
    try {
      await once(probe, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
}
