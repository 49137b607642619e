import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import { Button, NativeSelect, Stack, Switch } from '@mantine/core'
import { IconColumns2 } from '@tabler/icons-react'
import { useCallback, useRef, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { segment } from '../../api/client.js'
import { cameraText, parseCamera } from '../../map/camera.js'
import type { MapLibre } from '../../map/library.js'
import { addressText, parseAddress, type TileAddress, tileAt, tileBounds } from '../../map/tile-address.js'
import { VersionMap } from '../../map/version-map.js'
import { useTexts } from '../../texts/texts.js'
import { Facts } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { Missing } from '../../ui/missing.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Status } from '../../ui/status.js'
import { Ago } from '../../ui/time.js'
import { useParameter } from '../../ui/use-parameter.js'
import { BoundsText } from './bounds-text.js'
import { DefaultDialog } from './default-dialog.js'
import { TileInspector } from './tile-inspector.js'
import { WithBasemap } from './use-basemap.js'

export function Page() {
  const t = useTexts()
  const { code = '', version: label = '' } = useParams()
  return (
    <WithBasemap code={code}>
      {(basemap) => {
        const version = basemap.versions.find((v) => v.version === label)
        if (version !== undefined) return <Preview key={label} basemap={basemap} version={version} />
        return (
          <Missing
            title={t.basemaps.noSuchVersion(label)}
            back={{ label: basemap.name, to: `/basemaps/${segment(code)}` }}
          >
            {t.basemaps.noSuchAdvice}
          </Missing>
        )
      }}
    </WithBasemap>
  )
}

type Shown = BasemapVersion & { readonly path: string }

function Preview({ basemap, version }: { basemap: AdminBasemap; version: Shown }) {
  const t = useTexts()
  const go = useNavigate()
  const here = `/basemaps/${segment(basemap.code)}`
  const [asked, setAsked] = useState(false)
  const isDefault = version.version === basemap.default_version
  return (
    <Frame
      title={`${basemap.name} · ${version.version}`}
      above={[
        { label: t.basemaps.title, to: '/basemaps' },
        { label: basemap.name, to: here },
      ]}
      actions={
        <>
          {isDefault ? (
            <Status tone="good">{t.basemaps.isDefault}</Status>
          ) : (
            <Button variant="default" onClick={() => setAsked(true)}>
              {t.basemaps.makeDefault}
            </Button>
          )}
          <ButtonLink
            to={`${here}/compare?left=${encodeURIComponent(version.version)}`}
            variant="default"
            leftSection={<IconColumns2 size={16} aria-hidden />}
          >
            {t.basemaps.compare}
          </ButtonLink>
          <NativeSelect
            aria-label={t.common.version}
            value={version.version}
            data={basemap.versions.map((v) => v.version)}
            onChange={(event) => go(`${here}/versions/${segment(event.currentTarget.value)}`)}
          />
        </>
      }
    >
      <MapAndInspector code={basemap.code} version={version} />
      <Section title={t.basemaps.details}>
        <VersionFacts version={version} />
      </Section>
      <DefaultDialog basemap={basemap} version={asked ? version : null} onClose={() => setAsked(false)} />
    </Frame>
  )
}

/** Where the map stands and which tile is inspected are in the address. */
function MapAndInspector({ code, version }: { code: string; version: BasemapVersion }) {
  const t = useTexts()
  const [at, setAt] = useParameter('at')
  const [tile, setTile] = useParameter('tile')
  const [grid, setGrid] = useParameter('grid')
  const map = useRef<MapLibre | null>(null)
  const [camera] = useState(() => parseCamera(at))
  const set = {
    minZoom: version.min_zoom,
    maxZoom: version.max_zoom,
    tileSize: version.tile_size,
    vector: version.format === 'pbf',
  }
  const parsed = tile === null ? null : parseAddress(tile, set)
  const show = (address: TileAddress) => {
    setTile(addressText(address))
    const [west, south, east, north] = tileBounds(address)
    map.current?.fitBounds([west, south, east, north], { padding: 60, duration: 400 })
  }
  const onReady = useCallback((ready: MapLibre) => {
    map.current = ready
  }, [])
  return (
    <div className="map-and-side">
      <Stack gap="xs">
        <VersionMap
          code={code}
          version={version}
          grid={grid !== null}
          camera={camera}
          tall
          onReady={onReady}
          onCamera={(now) => setAt(cameraText(now))}
          onClick={({ lngLat, target }) => setTile(addressText(tileAt(lngLat.lng, lngLat.lat, target.getZoom(), set)))}
        />
        <Switch
          label={t.map.grid}
          checked={grid !== null}
          onChange={(event) => setGrid(event.currentTarget.checked ? 'on' : null)}
        />
      </Stack>
      <TileInspector code={code} version={version} address={parsed === 'range' ? null : parsed} onInspect={show} />
    </div>
  )
}

function VersionFacts({ version }: { version: Shown }) {
  const t = useTexts()
  return (
    <Facts
      facts={[
        [t.basemaps.storage, version.storage],
        [t.common.format, version.format],
        [t.basemaps.tileSize, version.tile_size],
        [t.common.zooms, `${version.min_zoom}–${version.max_zoom}`],
        [t.common.bounds, <BoundsText key="bounds" bounds={version.bounds} />],
        [
          t.basemaps.health,
          version.available ? (
            <Status key="health" tone="good">
              {t.common.available}
            </Status>
          ) : (
            <Status key="health" tone="bad">
              {t.common.unavailable}
            </Status>
          ),
        ],
        [t.basemaps.scannedAt, <Ago key="scanned" at={version.scanned_at} />],
        [
          t.common.path,
          <span key="path" className="mono">
            {version.path}
          </span>,
        ],
      ]}
    />
  )
}
