import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import { useQuery } from '@tanstack/react-query'
import IconMapOff from '~icons/map-off'
import IconVectorTriangle from '~icons/vector-triangle'
import { request } from '../../api/client.js'
import { fetchPreviewToken, RENEW_MS, TOKEN_HEADER, tilePath } from '../../api/preview.js'
import { isOwnGrid } from '../../map/geographic.js'
import { isVector } from '../../map/is-vector.js'
import { addressText } from '../../map/tile-address.js'
import { Picture } from '../../ui/picture.js'
import { useSeen } from '../../ui/use-seen.js'
import { isServed } from '../../ui/withdrawn.js'
import { thumbnailTile } from './thumbnail-tile.js'

interface Batch {
  readonly codes: Set<string>
  readonly token: Promise<string>
}

/** Maximum number of codes in one token, as the service allows. */
const MAX_CODES = 100

const known = new Map<string, { readonly token: Promise<string>; readonly untilMs: number }>()
let open: Batch | null = null

/** Returns a token that reads this basemap. Rows that request it at the same moment share one token. */
function thumbnailToken(code: string): Promise<string> {
  const kept = known.get(code)
  if (kept !== undefined && performance.now() < kept.untilMs) return kept.token
  if (open === null || open.codes.size >= MAX_CODES) open = newBatch()
  open.codes.add(code)
  const { token } = open
  known.set(code, { token, untilMs: performance.now() + RENEW_MS })
  // Failures are not cached.
  token.catch(() => known.delete(code))
  return token
}

function newBatch(): Batch {
  const codes = new Set<string>()
  const token = (async () => {
    await new Promise((resolve) => setTimeout(resolve))
    open = null
    return (await fetchPreviewToken({ basemap_codes: [...codes] })).token
  })()
  return { codes, token }
}

/** One tile of the default version, loaded when its row becomes visible. Decorative: the basemap's name stands next to it. */
export function Thumbnail({ basemap }: { basemap: AdminBasemap }) {
  const { ref, seen } = useSeen()
  const version = basemap.versions.find((v) => v.version === basemap.default_version)
  const isShown = version?.available && isServed(basemap) && isServed(version) && !isOwnGrid(version)
  return (
    <div ref={ref} className="thumbnail" aria-hidden>
      {!isShown ? (
        <IconMapOff size={18} />
      ) : isVector(version.format) ? (
        <IconVectorTriangle size={18} />
      ) : (
        seen && <Tile code={basemap.code} version={version} />
      )}
    </div>
  )
}

function Tile({ code, version }: { code: string; version: BasemapVersion }) {
  const tile = useQuery({
    queryKey: ['thumbnail', code, version.version, version.revision],
    queryFn: ({ signal }) => readTile(code, version, signal),
    // New content has a new revision, so a tile never becomes stale.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return tile.data == null ? null : <Picture of={tile.data} />
}

/** Returns null if the version has no tile there, or if this host serves no tiles. */
async function readTile(code: string, version: BasemapVersion, signal: AbortSignal): Promise<Blob | null> {
  const token = await thumbnailToken(code)
  const path = tilePath(code, version.version, addressText(thumbnailTile(version)), version.format)
  // With missing=204 a missing tile is not an error.
  const url = `${path}?v=${version.revision}&missing=204`
  return request(url, {}, { signal, headers: { [TOKEN_HEADER]: token } }, async (response) =>
    response.status === 204 ? null : response.blob(),
  )
}
