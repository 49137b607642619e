import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { useTexts } from '../../texts/texts.js'
import { Availability } from '../../ui/columns.js'
import { Fact } from '../../ui/facts.js'
import { Ago } from '../../ui/time.js'
import { BoundsText } from './bounds-text.js'

/** The facts about a version, shown next to its map. */
export function VersionFacts({ version }: { version: AdminBasemapVersion }) {
  const t = useTexts()
  return (
    <>
      <Fact name={t.basemaps.health}>
        <Availability available={version.available} t={t} />
      </Fact>
      <Fact name={t.basemaps.storage}>{`${version.storage} · ${version.format}`}</Fact>
      <Fact name={t.common.zooms}>{`${version.min_zoom}–${version.max_zoom}`}</Fact>
      <Fact name={t.basemaps.tileSize}>{version.tile_size}</Fact>
      <Fact name={t.common.bounds} wide>
        <BoundsText bounds={version.bounds} />
      </Fact>
      <Fact name={t.basemaps.grid} wide>{`${version.tile_matrix_set} (${version.crs})`}</Fact>
      <Fact name={t.basemaps.revision}>{version.revision}</Fact>
      <Fact name={t.basemaps.scannedAt}>
        <Ago at={version.scanned_at} />
      </Fact>
      <Fact name={t.common.path} wide>
        <bdi className="mono">{version.path}</bdi>
      </Fact>
    </>
  )
}
