import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import IconMapOff from '~icons/map-off'
import IconVectorTriangle from '~icons/vector-triangle'
import { request } from '../../api/client.js'
import { rowToken, TOKEN_HEADER, tilePath } from '../../api/preview.js'
import { isOwnGrid } from '../../map/geographic.js'
import { isVector } from '../../map/is-vector.js'
import { addressText } from '../../map/tile-address.js'
import { Thumbnail } from '../../ui/thumbnail.js'
import { isServed } from '../../ui/withdrawn.js'
import { thumbnailTile } from './thumbnail-tile.js'

/** One tile of the default version. */
export function BasemapThumbnail({ basemap }: { basemap: AdminBasemap }) {
  const { code } = basemap
  const version = basemap.versions.find((v) => v.version === basemap.default_version)
  const isShown = version?.available && isServed(basemap) && isServed(version) && !isOwnGrid(version)
  if (!isShown) return <Thumbnail id={[code]} read={null} icon={IconMapOff} />
  return (
    <Thumbnail
      id={[code, version.version, version.revision]}
      read={isVector(version.format) ? null : (signal) => readTile(code, version, signal)}
      icon={IconVectorTriangle}
    />
  )
}

/** Returns null if the version has no tile there, or if this host serves no tiles. */
async function readTile(code: string, version: BasemapVersion, signal: AbortSignal): Promise<Blob | null> {
  const token = await rowToken('basemap_codes', code)
  const path = tilePath(code, version.version, addressText(thumbnailTile(version)), version.format)
  // With missing=204 a missing tile is not an error.
  const url = `${path}?v=${version.revision}&missing=204`
  return request(url, {}, { signal, headers: { [TOKEN_HEADER]: token } }, async (response) =>
    response.status === 204 ? null : response.blob(),
  )
}
