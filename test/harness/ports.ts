import { connect, createServer } from 'node:net'

/**
 * Test ports lie below the range from which the kernel takes ports for outgoing connections, so that none is taken between its choice
 * and its use. Every vitest worker has a separate range: an edge shares its port, so two gateways on one port would not even notice.
 */
const FIRST_PORT = 12_000
const PORTS_PER_WORKER = 2_000
const WORKERS = 9

const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS
let next = process.pid % PORTS_PER_WORKER

/** Returns a loopback port that nothing listens on, and that no other test of this run gets. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < PORTS_PER_WORKER; attempt++) {
    const port = FIRST_PORT + worker * PORTS_PER_WORKER + (next++ % PORTS_PER_WORKER)
    if (await canListen(port)) return port
  }
  throw new Error('no free port')
}

/** True if this loopback port accepts connections. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
