import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { memory } from '../machine.js'
import type { RunningPeer } from '../peers/peer.js'
import { measured, type Workload } from './workload.js'

const READERS = 100
/** Size and interval of each reader's reads. */
const CHUNK_BYTES = 16 * 1024
const PAUSE_MS = 250

/** The memory that many slow readers of a large file cost the server. The rate is that of the readers and has no meaning. */
export const slowDownloads: Workload = {
  name: 'slow-downloads',
  title: `${READERS} downloads of 200 MB that read 64 KB a second: memory`,
  async measure(peer, { seconds }) {
    const path = peer.downloadPath('large')
    if (path === null) return null
    const before = memory(peer.pids(), 'now')
    let most = before
    const sample = await measured(peer, async () => {
      const startedAt = performance.now()
      const readers = await Promise.all(Array.from({ length: READERS }, () => slowReader(peer, path)))
      while (performance.now() - startedAt < seconds * 1000) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        for (const reader of readers) reader.read(CHUNK_BYTES)
        most = Math.max(most, memory(peer.pids(), 'now'))
      }
      const bytes = readers.reduce((sum, reader) => sum + reader.bytesRead, 0)
      for (const reader of readers) reader.destroy()
      const elapsed = (performance.now() - startedAt) / 1000
      return { requests: READERS, seconds: elapsed, bytes, failures: 0, statuses: {}, p50: 0, p90: 0, p99: 0, p999: 0 }
    })
    return { ...sample, memoryRise: most - before }
  },
}

/** Resolves when the first bytes have arrived. */
async function slowReader(peer: RunningPeer, path: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: peer.port, highWaterMark: CHUNK_BYTES } as never)
  socket.on('error', () => {})
  socket.write([`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...peer.headers, '', ''].join('\r\n'))
  await once(socket, 'readable')
  const head = socket.read(CHUNK_BYTES)?.toString('latin1') ?? socket.read()?.toString('latin1')
  if (!head?.startsWith('HTTP/1.1 200')) throw new Error(`${peer.name} answered a download with ${head?.slice(0, 40)}`)
  return socket
}
