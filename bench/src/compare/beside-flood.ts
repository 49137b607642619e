import { createToken } from '@gateway/access/token-format.js'
import { load, measured, type RequestsFor, requestFile, type Workload } from './workload.js'

/** Requests a second, each with a token that nobody has: a scanner at work, not a link filled to the brim. */
const FLOOD_RATE = 2_000
const FLOOD_CONNECTIONS = 32
const FLOOD_TOKENS = 50_000

/** What valid traffic takes while a flood of unknown tokens comes in; to be compared with the mix alone. */
export function besideFlood(tiles: RequestsFor, connections: number, leastSeconds: number): Workload {
  const tileFile = requestFile('beside-flood-tiles', tiles)
  const floodFile = requestFile('beside-flood', async (peer, { data }) => {
    const path = peer.tilePath('mix', data.hotTile)
    if (path === null || peer.headers.length === 0) return null
    return Array.from({ length: FLOOD_TOKENS }, () => ({
      path,
      headers: [`Authorization: Bearer ${createToken()}`],
    }))
  })
  return {
    name: 'beside-flood',
    title: `The mix beside ${FLOOD_RATE} unknown tokens a second`,
    async measure(peer, context) {
      const [requests, flood] = [await tileFile(peer, context), await floodFile(peer, context)]
      if (requests === null || flood === null) return null
      const longer = { ...context, seconds: Math.max(context.seconds, leastSeconds) }
      return measured(peer, async () => {
        const both = [
          load(peer, longer, { requests, connections }),
          load(peer, longer, { requests: flood, connections: FLOOD_CONNECTIONS, rate: FLOOD_RATE }, 401),
        ] as const
        return (await Promise.all(both))[0]
      })
    },
  }
}
