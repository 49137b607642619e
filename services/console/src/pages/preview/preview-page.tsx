import { Alert, Group, SegmentedControl, Stack, Switch } from '@mantine/core'
import { useCallback, useRef, useState } from 'react'
import IconStack2 from '~icons/stack-2'
import { findBasemaps, findVectors } from '../../api/catalog.js'
import { cameraText, parseCamera } from '../../map/camera.js'
import { MapView, useMapLibrary } from '../../map/lazy.js'
import type { MapLibre } from '../../map/library.js'
import { useReference, withReference } from '../../map/reference.js'
import { UnderCursor, useCursor } from '../../map/under-cursor.js'
import { useTexts } from '../../texts/texts.js'
import { CodeSelect } from '../../ui/code-select.js'
import { Empty } from '../../ui/empty.js'
import { Page as Frame } from '../../ui/page.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useParameter } from '../../ui/use-parameter.js'
import { LayerRows } from './layer-rows.js'
import { layersText, MAX_LAYERS, parseLayers, type ShownLayer } from './shown-layers.js'
import { type LayerState, useLayers } from './use-layers.js'

/** Several maps over one another. The layers, their order and opacity, the reference map and the camera are in the URL. */
export function Page() {
  const t = useTexts().maps.preview
  const [text, setText] = useParameter('layers')
  const layers = parseLayers(text)
  const shown = useLayers(layers)
  const map = useRef<MapLibre | null>(null)
  const set = (next: readonly ShownLayer[]) => setText(layersText(next))
  const show = ({ bounds }: LayerState) => {
    if (bounds !== null) map.current?.fitBounds(bounds, { padding: 40, duration: 400 })
  }
  const onReady = useCallback((ready: MapLibre) => {
    map.current = ready
  }, [])
  return (
    <Frame title={t.title} lead={t.lead}>
      <div className="map-and-side">
        {shown.error === null ? (
          <ShownMap shown={shown} isEmpty={layers.length === 0} onReady={onReady} />
        ) : (
          <Problem title={t.failed} error={shown.error} />
        )}
        <div className="side">
          <Section title={t.layers}>
            {layers.length === 0 ? (
              <Empty title={t.none} icon={IconStack2}>
                {t.noneAdvice}
              </Empty>
            ) : (
              <LayerRows states={shown.states} onChange={set} onShow={show} />
            )}
            {layers.length < MAX_LAYERS ? (
              <AddLayer onAdd={(layer) => set([...layers, layer])} />
            ) : (
              <Alert color="blue">{t.full(MAX_LAYERS)}</Alert>
            )}
          </Section>
        </div>
      </div>
    </Frame>
  )
}

interface ShownMapProps {
  readonly shown: ReturnType<typeof useLayers>
  readonly isEmpty: boolean
  readonly onReady: (map: MapLibre) => void
}

function ShownMap({ shown: { states, content, token }, isEmpty, onReady }: ShownMapProps) {
  const t = useTexts().maps
  const [at, setAt] = useParameter('at')
  const [camera] = useState(() => parseCamera(at))
  const [ground, setGround] = useParameter('reference')
  const reference = useReference(ground === null)
  const cursor = useCursor()
  useMapLibrary()
  // The first layer determines the plane and the first view of the map, so the map waits until one layer is known.
  const isKnown = isEmpty || states.some(({ problem }) => problem !== 'loading')
  if (!isKnown) return <div className="map map-tall" />
  const top = states.findLast(({ tiles }) => tiles !== null)
  const placeOf = ({ lngLat, target }: { lngLat: { wrap(): { lng: number; lat: number } }; target: MapLibre }) => {
    const { lng, lat } = lngLat.wrap()
    return { lon: lng, lat, zoom: target.getZoom() }
  }
  return (
    <Stack gap="xs">
      <MapView
        key={content.projection ?? 'mercator'}
        label={t.preview.title}
        content={ground === null ? withReference(content, reference) : content}
        bounds={states.find(({ bounds }) => bounds !== null)?.bounds ?? null}
        camera={camera}
        {...(token !== undefined && { token })}
        tall
        onReady={onReady}
        onCamera={(now) => setAt(cameraText(now))}
        onPointer={(event) => cursor.point(placeOf(event))}
        onClick={(event) => cursor.keep(placeOf(event))}
      />
      <Group justify="space-between" align="flex-start">
        <UnderCursor cursor={cursor} tiles={top?.tiles ?? null} />
        <Switch
          label={t.reference}
          checked={ground === null}
          onChange={({ currentTarget: { checked } }) => setGround(checked ? null : 'off')}
        />
      </Group>
    </Stack>
  )
}

/** Puts another map on top. */
function AddLayer({ onAdd }: { onAdd: (layer: ShownLayer) => void }) {
  const t = useTexts()
  const [kind, setKind] = useState<ShownLayer['kind']>('basemap')
  const add = (code: string) => {
    if (code !== '') onAdd({ kind, code, version: '', opacity: 100 })
  }
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={t.common.kind}
        value={kind}
        data={[
          { value: 'basemap', label: t.nav.basemaps },
          { value: 'vector', label: t.nav.vectors },
        ]}
        onChange={(next) => setKind(next as ShownLayer['kind'])}
      />
      <CodeSelect
        key={kind}
        label={t.maps.preview.add}
        kind={kind === 'basemap' ? 'basemaps' : 'vectors'}
        find={kind === 'basemap' ? findBasemaps : findVectors}
        value=""
        onChange={add}
      />
    </Stack>
  )
}
