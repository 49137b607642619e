import { once } from 'node:events'
import { createServer } from 'node:net'

/** A loopback TCP port that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('a TCP listener has an address')
  return address.port
}

/**
 * Whether a listener on this address would be the only one. Asked before the edge starts: it shares its port between processes, so it
 * would silently share it with a second gateway too.
 * @returns null, or why not (`EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES` ...)
 */
export async function whyNotListen(host: string, port: number): Promise<string | null> {
  const probe = createServer().listen(port, host.replace(/^\[|\]$/g, ''))
  try {
    await once(probe, 'listening')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message
  }
  await new Promise((resolve) => probe.close(resolve))
  return null
}
