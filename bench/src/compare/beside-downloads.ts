import { load, measured, type RequestsFor, requestFile, type Workload } from './workload.js'

const DOWNLOADS = 8
const TILE_CONNECTIONS = 16

/** What tiles take while as many downloads run at full speed; rate and latencies are those of the tiles, processor time is of both. */
export function besideDownloads(tiles: RequestsFor, download: RequestsFor): Workload {
  const tileFile = requestFile('beside-downloads-tiles', tiles)
  const downloadFile = requestFile('beside-downloads', download)
  return {
    name: 'beside-downloads',
    title: `The mix beside ${DOWNLOADS} downloads at full speed`,
    async measure(peer, context) {
      const [requests, downloads] = [await tileFile(peer, context), await downloadFile(peer, context)]
      if (requests === null || downloads === null) return null
      return measured(peer, async () => {
        const both = [
          load(peer, context, { requests, connections: TILE_CONNECTIONS }),
          // Requests count when they are complete, so a slow server may have none to show; bytes do not matter here.
          load(peer, context, { requests: downloads, connections: DOWNLOADS }),
        ] as const
        return (await Promise.all(both))[0]
      })
    },
  }
}
