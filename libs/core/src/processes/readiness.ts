import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A process that accepts a connection but does not respond within this time is not ready. */
const ANSWER_WITHIN_MS = 2_000

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
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
