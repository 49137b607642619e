import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Time in ms that the workers of a killed supervisor need to notice its end, and close their listeners. */
const FREED_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 100

/**
 * Checks whether a TCP port can be listened on. Workers share theirs, and would also silently share it with a foreign process, so
 * it is first tried exclusively. Returns null, or the reason in one line.
 */
export async function portTrouble(host: string, port: number): Promise<string | null> {
  const deadline = performance.now() + FREED_WITHIN_MS
  let error = await whyNotListen(host, port)
  while (error?.code === 'EADDRINUSE' && performance.now() < deadline) {
    await sleep(LOOK_AGAIN_MS)
    error = await whyNotListen(host, port)
  }
  return error === null ? null : wordsFor(error, host, port)
}

function whyNotListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const probe = net.createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)))
  })
}

function wordsFor(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `API_PORT ${port} on ${host} is in use by another process`
  if (error.code === 'EACCES') return `this user may not listen on API_PORT ${port} on ${host}`
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `API_HOST ${host} is not an address of this machine`
  return `the edge cannot listen on API_HOST ${host} with API_PORT ${port}: ${error.message}`
}
