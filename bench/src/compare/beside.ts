import type { Load } from '../load/load.js'
import { load, measured, type RequestsFor, requestFile, secondsOf, type Workload } from './workload.js'

interface Side extends Pick<Load, 'connections' | 'rate'> {
  readonly requests: RequestsFor
  readonly status?: number
}

/** Measures tiles while the server has other work; rate and latencies are those of the tiles, processor time covers both. */
export function beside(name: string, title: string, tiles: Side, other: Side, leastSeconds = 0): Workload {
  const tileFile = requestFile(`${name}-tiles`, tiles.requests)
  const otherFile = requestFile(name, other.requests)
  return {
    name,
    title,
    async measure(peer, context) {
      const files = [await tileFile(peer, context), await otherFile(peer, context)] as const
      if (files[0] === null || files[1] === null) return null
      const longer = { ...context, seconds: secondsOf(context, leastSeconds) }
      const both = [
        { ...tiles, requests: files[0] },
        { ...other, requests: files[1] },
      ] as const
      return measured(peer, async () => {
        const [ofTiles] = await Promise.all(both.map((side) => load(peer, longer, side, side.status)))
        return ofTiles as NonNullable<typeof ofTiles>
      })
    },
  }
}
