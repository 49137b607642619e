import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, Group, Stack, Switch } from '@mantine/core'
import { type ReactNode, useCallback, useRef, useState } from 'react'
import { cameraText, parseCamera } from '../../map/camera.js'
import { columnsOf } from '../../map/geographic.js'
import { VersionMap } from '../../map/lazy.js'
import type { MapLibre } from '../../map/library.js'
import { addressText, parseAddress, type TileAddress, tileAt, tileBounds } from '../../map/tile-address.js'
import { useTexts } from '../../texts/texts.js'
import { Facts } from '../../ui/facts.js'
import { Section } from '../../ui/section.js'
import { useParameter } from '../../ui/use-parameter.js'
import { isServed } from '../../ui/withdraw.js'
import { TileInspector } from './tile-inspector.js'
import { VersionSelect } from './version-select.js'

interface MapAndFactsProps {
  readonly basemap: AdminBasemap
  readonly version: AdminBasemapVersion
  /** `Fact`s for the side panel */
  readonly facts: ReactNode
}

/** The map of a version with a version select, the facts, and the tile that the user clicked. */
export function MapAndFacts({ basemap, version, facts }: MapAndFactsProps) {
  const t = useTexts()
  const served = isServed(basemap) && isServed(version) && version.available
  const [tile, setTile] = useParameter('tile')
  const map = useRef<MapLibre | null>(null)
  const set = {
    minZoom: version.min_zoom,
    maxZoom: version.max_zoom,
    tileSize: version.tile_size,
    columns: columnsOf(version),
    vector: version.format === 'pbf',
  }
  const parsed = tile === null ? null : parseAddress(tile, set)
  const show = (address: TileAddress) => {
    setTile(addressText(address))
    const [west, south, east, north] = tileBounds(address, set)
    map.current?.fitBounds([west, south, east, north], { padding: 60, duration: 400 })
  }
  const onReady = useCallback((ready: MapLibre) => {
    map.current = ready
  }, [])
  return (
    <div className="map-and-side">
      {served ? (
        <ShownMap
          code={basemap.code}
          version={version}
          onReady={onReady}
          onTile={(lon, lat, zoom) => setTile(addressText(tileAt(lon, lat, zoom, set)))}
        />
      ) : (
        <Alert color="orange">{version.available ? t.withdraw.notShown : t.work.unavailableMap}</Alert>
      )}
      <div className="side">
        <Section title={t.maps.facts} quiet>
          <VersionSelect basemap={basemap} version={version.version} />
          <Facts>{facts}</Facts>
        </Section>
        {served && (
          <TileInspector
            code={basemap.code}
            version={version}
            address={parsed === 'range' ? null : parsed}
            onInspect={show}
          />
        )}
      </div>
    </div>
  )
}

interface ShownMapProps {
  readonly code: string
  readonly version: AdminBasemapVersion
  readonly onReady: (map: MapLibre) => void
  readonly onTile: (lon: number, lat: number, zoom: number) => void
}

/** The map whose camera and grid are stored in the URL. */
function ShownMap({ code, version, onReady, onTile }: ShownMapProps) {
  const t = useTexts()
  const [at, setAt] = useParameter('at')
  const [grid, setGrid] = useParameter('grid')
  const [camera] = useState(() => parseCamera(at))
  return (
    <Stack gap="xs">
      <VersionMap
        code={code}
        version={version}
        grid={grid !== null}
        camera={camera}
        tall
        onReady={onReady}
        onCamera={(now) => setAt(cameraText(now))}
        onClick={({ lngLat, target }) => onTile(lngLat.lng, lngLat.lat, target.getZoom())}
      />
      <Group justify="space-between">
        <Switch
          label={t.map.grid}
          checked={grid !== null}
          onChange={(event) => setGrid(event.currentTarget.checked ? 'on' : null)}
        />
      </Group>
    </Stack>
  )
}
