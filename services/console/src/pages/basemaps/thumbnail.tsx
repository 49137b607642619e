import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import { useQuery } from '@tanstack/react-query'
import IconMapOff from '~icons/map-off'
import IconVectorTriangle from '~icons/vector-triangle'
import { request } from '../../api/client.js'
import { TOKEN_HEADER, tilePath } from '../../api/preview.js'
import { thumbnailToken } from '../../api/thumbnail-token.js'
import { isOwnGrid } from '../../map/geographic.js'
import { isVector } from '../../map/is-vector.js'
import { addressText } from '../../map/tile-address.js'
import { Picture } from '../../ui/picture.js'
import { useSeen } from '../../ui/use-seen.js'
import { isServed } from '../../ui/withdrawn.js'
import { thumbnailTile } from './thumbnail-tile.js'

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
