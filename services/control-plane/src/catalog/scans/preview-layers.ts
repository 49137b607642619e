import { isVectorFormat } from '@gateway/contracts/basemap.js'
import type { TriedScan } from '@gateway/contracts/scan-source.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import { bytesOf } from '@gateway/tilesets/export/stored-tiles.js'
import { TileNotMade } from '@gateway/tilesets/kept/tile-not-made.js'
import type { TilePlace } from '@gateway/tilesets/source.js'
import { matrixSetOf, tileMatrixLimits } from '@gateway/tilesets/tile-matrix-sets.js'
import sharp from 'sharp'
import type { ControlContext } from '../../platform/context.js'
import { openServices } from '../../platform/open-services.js'
import type { FoundBasemap } from './walk/found.js'
import { accessOf, type ScannedService } from './walk-service.js'

/** Limits: layers with a picture, and the time for all of them. The trial of a slow service lasts so much longer at most. */
const MAX_PREVIEWS = 24
const PREVIEWS_MS = 8000
/** Pixels of a side of a picture. */
const SIZE = 96

type Preview = NonNullable<TriedScan['layers']>[number]

/** Returns the layers of a service that is tried, the first ones with a small picture: one tile of each is fetched with the access that was entered. */
export async function previewLayers(
  ctx: ControlContext,
  scanned: ScannedService,
  layers: readonly FoundBasemap[],
  signal: AbortSignal,
): Promise<Preview[]> {
  const { headers, query } = await accessOf(ctx.sql, scanned)
  const { services, cache } = openServices(ctx, { access: { headers, query } })
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(PREVIEWS_MS)])
  try {
    return await Promise.all(
      layers.map(async ({ code, name, versions: [version] }, i): Promise<Preview> => {
        const layer = version?.path.slice(version.path.indexOf('#') + 1) ?? ''
        const about = { layer, code, name, preview: null }
        if (!version?.upstream || i >= MAX_PREVIEWS || isVectorFormat(version.format)) return about
        // A trial shows the service as it is now, and is no request of the stored source.
        const upstream = {
          ...version.upstream,
          source: `trial of ${scanned.code}`,
          metaTiles: 1,
          ttlSeconds: 0,
          staleDays: 0,
        }
        const source = services.open({
          ...version,
          upstream,
          tileMatrices: version.tileMatrices ?? null,
          id: 0,
          root: '',
          isRemote: true,
        })
        const end = () => source.close()
        inTime.addEventListener('abort', end)
        try {
          inTime.throwIfAborted()
          const tile = await source.tile(placeOf(version), { caller: 'trial', isWanted: () => !inTime.aborted })
          return { ...about, preview: tile === null ? null : await pictureOf(await bytesOf(tile)) }
        } catch (error) {
          // The scan reports what is wrong with the service; a layer without a picture can be taken, too.
          if (!(error instanceof TileNotMade) && !inTime.aborted) throw error
          return about
        } finally {
          inTime.removeEventListener('abort', end)
          source.close()
        }
      }),
    )
  } finally {
    await services.close()
    cache.close()
  }
}

/** Returns the tile in the middle of a layer, of the deepest zoom that shows all of it in at most 2 × 2 tiles. */
function placeOf({ minZoom, maxZoom, bounds, ...grid }: NewVersion): TilePlace {
  const set = matrixSetOf(grid)
  const limitsAt = (z: number) => tileMatrixLimits(set, z, bounds)
  let z = minZoom
  while (z < maxZoom) {
    const { minColumn, maxColumn, minRow, maxRow } = limitsAt(z + 1)
    if (maxColumn - minColumn > 1 || maxRow - minRow > 1) break
    z++
  }
  const { minColumn, maxColumn, minRow, maxRow } = limitsAt(z)
  return { z, x: (minColumn + maxColumn) >> 1, y: (minRow + maxRow) >> 1 }
}

async function pictureOf(tile: Uint8Array): Promise<string> {
  const picture = await sharp(tile).resize(SIZE, SIZE).webp().toBuffer()
  return `data:image/webp;base64,${picture.toString('base64')}`
}
