import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, Button, Group, Stack, Switch } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { type ReactNode, useCallback, useRef, useState } from 'react'
import IconChevronDown from '~icons/chevron-down'
import IconChevronUp from '~icons/chevron-up'
import { tilePath } from '../../api/preview.js'
import { cameraText, parseCamera } from '../../map/camera.js'
import { columnsOf, isOwnGrid } from '../../map/geographic.js'
import { isVector } from '../../map/is-vector.js'
import { VersionMap } from '../../map/lazy.js'
import type { MapLibre } from '../../map/library.js'
import {
  addressText,
  parseAddress,
  type TileAddress,
  type TileSet,
  tileAt,
  tileBounds,
} from '../../map/tile-address.js'
import { UnderCursor, useCursor } from '../../map/under-cursor.js'
import { useVersionPreview } from '../../map/use-preview.js'
import type { Texts } from '../../texts/en.js'
import { useTexts } from '../../texts/texts.js'
import { Facts } from '../../ui/facts.js'
import { TextLink } from '../../ui/links.js'
import { Section } from '../../ui/section.js'
import { useParameter } from '../../ui/use-parameter.js'
import { isServed } from '../../ui/withdrawn.js'
import { layersText } from '../preview/shown-layers.js'
import { TileInspector } from './tile-inspector.js'
import { VersionSelect } from './version-select.js'

interface MapAndFactsProps {
  readonly basemap: AdminBasemap
  readonly version: AdminBasemapVersion
  /** `Fact`s for the side panel */
  readonly facts: ReactNode
}

/** The map of a version with a version select, the facts, and the tile that the user clicked. The browser remembers whether they are hidden. */
export function MapAndFacts(props: MapAndFactsProps) {
  const t = useTexts().maps
  const [isHidden, setHidden] = useLocalStorage({
    key: 'map.hidden',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  return (
    <Stack gap="xs">
      {!isHidden && <ShownMapAndFacts {...props} />}
      <Group>
        <Button
          variant="subtle"
          size="compact-sm"
          aria-expanded={!isHidden}
          leftSection={isHidden ? <IconChevronDown size={16} /> : <IconChevronUp size={16} />}
          onClick={() => setHidden(!isHidden)}
        >
          {isHidden ? t.showMap : t.hideMap}
        </Button>
      </Group>
    </Stack>
  )
}

function ShownMapAndFacts({ basemap, version, facts }: MapAndFactsProps) {
  const t = useTexts()
  // The token of the preview reads what awaits approval.
  const served = isServed(basemap) && (isServed(version) || version.held) && version.available
  const [tile, setTile] = useParameter('tile')
  const map = useRef<MapLibre | null>(null)
  const set = {
    minZoom: version.min_zoom,
    maxZoom: version.max_zoom,
    tileSize: version.tile_size,
    columns: columnsOf(version),
    vector: isVector(version.format),
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
          set={set}
          onReady={onReady}
          onTile={(lon, lat, zoom) => setTile(addressText(tileAt(lon, lat, zoom, set)))}
        />
      ) : (
        <Alert color="orange">{whyNotShown(version, t)}</Alert>
      )}
      <div className="side">
        <Section title={t.maps.facts} quiet>
          <VersionSelect basemap={basemap} version={version.version} />
          <Facts>{facts}</Facts>
        </Section>
        {served && !isOwnGrid(version) && (
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

function whyNotShown({ available, rejected_reason: reason }: AdminBasemapVersion, t: Texts): string {
  if (!available) return t.work.unavailableMap
  return reason === null ? t.withdraw.notShown : t.automation.rejectedFor(reason)
}

interface ShownMapProps {
  readonly code: string
  readonly version: AdminBasemapVersion
  readonly set: TileSet
  readonly onReady: (map: MapLibre) => void
  readonly onTile: (lon: number, lat: number, zoom: number) => void
}

/** Minimum size in degrees. A smaller map shows no coasts, by which a user could recognise the place. */
const WHOLE_WORLD = { wide: 300, high: 120 }

function isPartOfWorld({ bounds, format }: AdminBasemapVersion): boolean {
  if (bounds === null) return isVector(format)
  const [west, south, east, north] = bounds
  return east - west < WHOLE_WORLD.wide && north - south < WHOLE_WORLD.high
}

/** The camera, the grid and the reference map are in the URL. */
function ShownMap({ code, version, set, onReady, onTile }: ShownMapProps) {
  const t = useTexts()
  const [at, setAt] = useParameter('at')
  const [grid, setGrid] = useParameter('grid')
  const [camera] = useState(() => parseCamera(at))
  const [ground, setGround] = useParameter('reference')
  // Requested here too, so that they arrive while the map library is being loaded.
  useVersionPreview(code, version)
  const hasGround = ground === null ? isPartOfWorld(version) : ground === 'on'
  const cursor = useCursor()
  const layer = { kind: 'basemap' as const, code, version: version.version, opacity: 100 }
  const template = `${window.location.origin}${tilePath(code, version.version, '{z}/{x}/{y}', version.format)}`
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
        reference={hasGround}
        onPointer={({ lngLat, target }) => {
          const { lng, lat } = lngLat.wrap()
          cursor.point({ lon: lng, lat, zoom: target.getZoom() })
        }}
        onClick={({ lngLat, target }) => onTile(lngLat.lng, lngLat.lat, target.getZoom())}
      />
      <UnderCursor cursor={cursor} tiles={{ set, template }} />
      <Group justify="space-between">
        <Group>
          <Switch
            label={t.map.grid}
            checked={grid !== null}
            onChange={(event) => setGrid(event.currentTarget.checked ? 'on' : null)}
          />
          <Switch
            label={t.maps.reference}
            checked={hasGround}
            onChange={(event) => setGround(event.currentTarget.checked ? 'on' : 'off')}
          />
        </Group>
        <TextLink to={`/preview?layers=${encodeURIComponent(layersText([layer]) ?? '')}`} size="sm">
          {t.maps.preview.withOthers}
        </TextLink>
      </Group>
    </Stack>
  )
}
