import type { AdminBasemap, AdminBasemapVersion, BasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, NativeSelect, Stack, Switch } from '@mantine/core'
import { IconColumns2, IconFileExport } from '@tabler/icons-react'
import { useCallback, useRef, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { deleteVersion, updateVersion } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { cameraText, parseCamera } from '../../map/camera.js'
import { columnsOf } from '../../map/geographic.js'
import { VersionMap } from '../../map/lazy.js'
import type { MapLibre } from '../../map/library.js'
import { addressText, parseAddress, type TileAddress, tileAt, tileBounds } from '../../map/tile-address.js'
import { useTexts } from '../../texts/texts.js'
import { Availability } from '../../ui/columns.js'
import { DeleteButton } from '../../ui/delete.js'
import { Fact, Facts } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { Missing } from '../../ui/missing.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { Status } from '../../ui/status.js'
import { Ago } from '../../ui/time.js'
import { useParameter } from '../../ui/use-parameter.js'
import { isServed, WithdrawButton, WithdrawnMark } from '../../ui/withdraw.js'
import { WriteButton } from '../../ui/write-button.js'
import { BoundsText } from './bounds-text.js'
import { DefaultDialog } from './default-dialog.js'
import { OverridesSection } from './overrides-section.js'
import { ShareButton } from './share-button.js'
import { TileInspector } from './tile-inspector.js'
import { useIsSliced, WithBasemap } from './use-basemap.js'

export function Page() {
  const t = useTexts()
  const { code = '', version: label = '' } = useParams()
  return (
    <WithBasemap code={code}>
      {(basemap) => {
        const version = basemap.versions.find((v) => v.version === label)
        if (version !== undefined) return <Preview key={label} basemap={basemap} version={version} />
        const back = { label: basemap.name, to: `/basemaps/${segment(code)}` }
        return <Missing title={t.basemaps.noSuchVersion(shortText(label))} back={back} />
      }}
    </WithBasemap>
  )
}

function Preview({ basemap, version }: { basemap: AdminBasemap; version: AdminBasemapVersion }) {
  const t = useTexts()
  const go = useNavigate()
  const here = `/basemaps/${segment(basemap.code)}`
  const at = { code: basemap.code, version: version.version }
  const title = `${basemap.name} · ${version.version}`
  const [asked, setAsked] = useState(false)
  const isDefault = version.version === basemap.default_version
  return (
    <Frame
      title={title}
      lead={
        <span className="mono">
          {basemap.code} / {version.version}
        </span>
      }
      above={[
        { label: t.basemaps.title, to: '/basemaps' },
        { label: basemap.name, to: here },
      ]}
      actions={
        <>
          <WithdrawnMark of={version} />
          <WithdrawButton
            withdrawal={(withdrawn) => updateVersion(at, { withdrawn })}
            name={title}
            withdrawn={version.withdrawn}
          />
          <DeleteButton
            deletion={(files) => deleteVersion(at, files)}
            name={title}
            words={t.remove.map}
            to={here}
            withFiles={useIsSliced(basemap.code)}
          />
          {isDefault ? (
            <Status tone="good">{t.basemaps.isDefault}</Status>
          ) : (
            <WriteButton needs="operator" variant="default" onClick={() => setAsked(true)}>
              {t.basemaps.makeDefault}
            </WriteButton>
          )}
          <ShareButton code={basemap.code} name={title} version={version.version} />
          <ButtonLink
            to={`${here}/compare?left=${encodeURIComponent(version.version)}`}
            variant="default"
            icon={IconColumns2}
          >
            {t.basemaps.compare}
          </ButtonLink>
          <ButtonLink
            to={`${here}/versions/${segment(version.version)}/export`}
            needs="operator"
            variant="default"
            icon={IconFileExport}
          >
            {t.exports.export}
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
      {isServed(basemap) && isServed(version) ? (
        <MapAndInspector code={basemap.code} version={version} />
      ) : (
        <Alert color="orange">{t.withdraw.notShown}</Alert>
      )}
      <Section title={t.basemaps.details}>
        <VersionFacts version={version} />
      </Section>
      <OverridesSection key={version.revision} basemap={basemap} version={version} />
      <DefaultDialog basemap={basemap} version={asked ? version : null} onClose={() => setAsked(false)} />
    </Frame>
  )
}

/** The camera and the inspected tile are in the address. */
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

function VersionFacts({ version }: { version: AdminBasemapVersion }) {
  const t = useTexts()
  return (
    <Facts>
      <Fact name={t.basemaps.storage}>{version.storage}</Fact>
      <Fact name={t.common.format}>{version.format}</Fact>
      <Fact name={t.basemaps.grid}>{`${version.tile_matrix_set} (${version.crs})`}</Fact>
      <Fact name={t.basemaps.revision}>{version.revision}</Fact>
      <Fact name={t.basemaps.tileSize}>{version.tile_size}</Fact>
      <Fact name={t.common.zooms}>{`${version.min_zoom}–${version.max_zoom}`}</Fact>
      <Fact name={t.common.bounds}>
        <BoundsText bounds={version.bounds} />
      </Fact>
      <Fact name={t.basemaps.health}>
        <Availability available={version.available} t={t} />
      </Fact>
      <Fact name={t.basemaps.scannedAt}>
        <Ago at={version.scanned_at} />
      </Fact>
      <Fact name={t.common.path}>
        <bdi className="mono">{version.path}</bdi>
      </Fact>
    </Facts>
  )
}
