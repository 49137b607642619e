import type { Bounds } from '@gateway/contracts/basemap.js'
import { Alert } from '@mantine/core'
import type { LayerSpecification, MapMouseEvent, SourceSpecification, StyleSpecification } from 'maplibre-gl'
import { useEffect, useRef, useState } from 'react'
import { TOKEN_HEADER } from '../api/preview.js'
import { useTexts } from '../texts/texts.js'
import { beginPart } from '../ui/first-page.js'
import { type Camera, unbroken } from './camera.js'
import { type GEOGRAPHIC, gridAddress } from './geographic.js'
import { MapLibre, NavigationControl, ScaleControl } from './library.js'

export interface MapContent {
  /** plane of the sources' tiles; default: Web Mercator */
  readonly projection?: typeof GEOGRAPHIC.name
  /** minimum zoom, below which the map would be empty */
  readonly minZoom?: number
  /** zoom from which its tiles are drawn; the first view is not below it */
  readonly drawnFrom?: number
  readonly sources: Readonly<Record<string, SourceSpecification>>
  readonly layers: readonly LayerSpecification[]
}

export interface MapViewProps {
  readonly label: string
  readonly content: MapContent
  /** initial extent without a camera */
  readonly bounds: Bounds | null
  readonly camera?: Camera | null
  /** token for requests to this origin's tiles */
  readonly token?: string
  readonly onClick?: (event: MapMouseEvent) => void
  readonly onPointer?: (event: MapMouseEvent) => void
  readonly onCamera?: (camera: Camera) => void
  readonly onReady?: (map: MapLibre) => void
  readonly tall?: boolean
}

const MAX_ZOOM = 24

/** A map of its sources. Sources and layers may change; all other properties are fixed. */
export function MapView(props: MapViewProps) {
  const t = useTexts()
  const container = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<MapLibre | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  // Callbacks of the map, which outlives many renders, read the latest properties.
  const latest = useRef(props)
  latest.current = props

  useEffect(() => {
    try {
      const made = createMap(container.current as HTMLDivElement, latest, t.map)
      const end = beginPart()
      made.once('load', () => setMap(made))
      made.once('idle', end)
      return () => {
        end()
        setMap(null)
        made.remove()
      }
    } catch (error) {
      setFailure((error as Error).message)
    }
  }, [t])

  const { content } = props
  useEffect(() => {
    map?.setStyle({ ...ground(content), sources: { ...content.sources }, layers: [...content.layers] }, { diff: true })
  }, [map, content])

  const { drawnFrom } = content
  const drawnBefore = useRef(drawnFrom)
  useEffect(() => {
    if (map === null || drawnFrom === drawnBefore.current) return
    drawnBefore.current = drawnFrom
    showTiles(map, drawnFrom)
  }, [map, drawnFrom])

  if (failure !== null) {
    return (
      <Alert color="orange" title={t.map.failed}>
        {t.map.noWebGl}
      </Alert>
    )
  }
  return <div ref={container} className={props.tall ? 'map map-tall' : 'map'} />
}

type Latest = { readonly current: MapViewProps }

function createMap(container: HTMLDivElement, latest: Latest, t: ReturnType<typeof useTexts>['map']): MapLibre {
  const { camera = null, bounds, label, content } = latest.current
  const map = new MapLibre({
    container,
    style: ground(content),
    ...(camera === null ? WORLD : { zoom: camera.zoom, center: [camera.lon, camera.lat] }),
    ...(content.minZoom !== undefined && { minZoom: content.minZoom }),
    maxZoom: MAX_ZOOM,
    // Attributions come from files, and are shown as text next to the map, since they may contain markup.
    attributionControl: false,
    locale: { 'Map.Title': `${t.label(label)}. ${t.hint}` },
    transformRequest: (asked) => {
      const url = gridAddress(asked)
      return { url, headers: isOwn(url) ? tokenHeader(latest.current.token) : {} }
    },
  })
  map.addControl(new NavigationControl({ showCompass: false }), 'top-right')
  map.addControl(new ScaleControl({}), 'bottom-left')
  map.on('click', (event) => latest.current.onClick?.(event))
  map.on('mousemove', (event) => latest.current.onPointer?.(event))
  map.once('style.load', () => {
    // The map knows its projection only now.
    if (camera === null && bounds !== null) {
      map.fitBounds(unbroken(bounds), { padding: 24, duration: 0 })
      showTiles(map, content.drawnFrom)
    }
    map.on('moveend', () => {
      const { lat, lng } = map.getCenter().wrap()
      latest.current.onCamera?.({ zoom: map.getZoom(), lat, lon: lng })
    })
  })
  // A missing tile is not an error of the page. The inspector reports it.
  map.on('error', () => {})
  map.once('load', () => latest.current.onReady?.(map))
  return map
}

/** Moves a map that would be empty to the zoom from which it has tiles. */
function showTiles(map: MapLibre, drawnFrom: number | undefined): void {
  if (drawnFrom !== undefined && map.getZoom() < drawnFrom) map.setZoom(drawnFrom)
}

const WORLD: { zoom: number; center: [number, number] } = { zoom: 0.5, center: [0, 20] }

function ground({ projection }: MapContent): StyleSpecification {
  return { version: 8, projection: { type: projection ?? 'mercator' }, sources: {}, layers: [] }
}

function isOwn(url: string): boolean {
  return url.startsWith(`${window.location.origin}/`)
}

function tokenHeader(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { [TOKEN_HEADER]: token }
}
