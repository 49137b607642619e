import { Alert } from '@mantine/core'
import type { MapGeoJSONFeature, StyleSpecification } from 'maplibre-gl'
import { useEffect, useRef, useState } from 'react'
import type { StyleDocument } from '../api/styles.js'
import { useTexts } from '../texts/texts.js'
import { beginPart } from '../ui/first-page.js'
import type { Camera } from './camera.js'
import { MapLibre, NavigationControl, ScaleControl } from './library.js'
import { layersOf } from './style-layers.js'
import { styleRequests } from './style-requests.js'

export interface StyleMapProps {
  readonly label: string
  readonly of: StyleDocument
  readonly token: string
  /** a valid document that is being edited, which is drawn instead without another map; the first one is `of` */
  readonly draft?: StyleDocument['document'] | undefined
  readonly camera?: Camera | null
  /** layers that are not drawn */
  readonly hidden?: ReadonlySet<string>
  readonly onPoint?: (features: readonly MapGeoJSONFeature[]) => void
  readonly onCamera?: (camera: Camera) => void
  readonly onReady?: (map: MapLibre) => void
}

/** A style in the form for readers. Another document makes a new map. */
export function StyleMap(props: StyleMapProps) {
  const t = useTexts()
  const container = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<MapLibre | null>(null)
  const [failed, setFailed] = useState(false)
  // Callbacks of the map, which outlives many renders, read the latest properties.
  const latest = useRef(props)
  latest.current = props
  const { of: shown, hidden, draft } = props

  useEffect(() => {
    try {
      const made = createMap(container.current as HTMLDivElement, shown, latest, t.map)
      const end = beginPart()
      made.once('load', () => setMap(made))
      made.once('idle', end)
      return () => {
        end()
        setMap(null)
        made.remove()
      }
    } catch {
      setFailed(true)
    }
  }, [t, shown])

  useEffect(() => {
    if (map === null) return
    for (const { id, layout } of layersOf(shown)) {
      const own = layout?.visibility ?? 'visible'
      map.setLayoutProperty(id, 'visibility', hidden?.has(id) ? 'none' : own)
    }
  }, [map, shown, hidden])

  useEffect(() => {
    if (map !== null && draft !== undefined) map.setStyle(draft as unknown as StyleSpecification)
  }, [map, draft])

  if (failed)
    return (
      <Alert color="orange" title={t.map.failed}>
        {t.map.noWebGl}
      </Alert>
    )
  return <div ref={container} className="map map-tall" />
}

function createMap(
  container: HTMLDivElement,
  { document, bases }: StyleDocument,
  latest: { readonly current: StyleMapProps },
  t: ReturnType<typeof useTexts>['map'],
): MapLibre {
  const { label, camera = null } = latest.current
  const map = new MapLibre({
    container,
    style: document as unknown as StyleSpecification,
    ...(camera !== null && { zoom: camera.zoom, center: [camera.lon, camera.lat] }),
    attributionControl: false,
    // Labels use the gateway's glyphs, even if this device has a font with ideographs.
    localIdeographFontFamily: false,
    locale: { 'Map.Title': `${t.label(label)}. ${t.hint}` },
    transformRequest: styleRequests(bases, () => latest.current.token),
  })
  map.addControl(new NavigationControl({}), 'top-right')
  map.addControl(new ScaleControl({}), 'bottom-left')
  map.on('mousemove', ({ point }) => latest.current.onPoint?.(map.queryRenderedFeatures(point)))
  map.on('mouseout', () => latest.current.onPoint?.([]))
  // Missing parts are listed next to the map.
  map.on('error', () => {})
  map.once('load', () => {
    if (camera === null && document.center === undefined) showSources(map, document)
    map.on('moveend', () => {
      const { lat, lng } = map.getCenter().wrap()
      latest.current.onCamera?.({ zoom: map.getZoom(), lat, lon: lng })
    })
    latest.current.onReady?.(map)
  })
  return map
}

/** Opens a style without a camera at its first source with bounds. */
function showSources(map: MapLibre, { sources }: StyleDocument['document']): void {
  for (const name of Object.keys((sources ?? {}) as object)) {
    const { bounds } = (map.getSource(name) ?? {}) as { bounds?: [number, number, number, number] }
    if (bounds === undefined || bounds[2] - bounds[0] >= 359) continue
    map.fitBounds(bounds, { padding: 24, duration: 0 })
    return
  }
}
