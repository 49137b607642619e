import type { Bounds } from '@gateway/contracts/basemap.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { useQuery } from '@tanstack/react-query'
import type { Feature } from 'geojson'
import { useCallback, useRef, useState } from 'react'
import { ApiError, reads } from '../../api/client.js'
import { previewTokenQuery, TOKEN_HEADER } from '../../api/preview.js'
import { unbroken } from '../../map/camera.js'
import type { MapLibre } from '../../map/library.js'
import { boundsOf } from './features.js'

/** A point, or a feature that is smaller than the screen, is shown with what surrounds it. */
const MAX_ZOOM = 16
/** An edge learns of a build a moment after this page does. */
const MAX_RETRIES = 4
const RETRY_MS = 700

/** A token that reads the vector, for its map and its table. */
export function useVectorToken({ code }: AdminVector) {
  return useQuery(previewTokenQuery({ vector_code: code }))
}

/** The layers that the tiles of a vector have. */
export function useTileLayers(vector: AdminVector, token: string | undefined) {
  const { code, revision, tiles } = vector
  return useQuery({
    queryKey: ['tilejson', 'vector', code, revision, tiles.built_at],
    queryFn: reads('/vectors/{code}/tilejson.json', {
      params: { path: { code } },
      headers: { [TOKEN_HEADER]: token ?? '' },
    }),
    enabled: token !== undefined && tiles.built_at !== null,
    retry: (failures, error) =>
      failures < MAX_RETRIES && error instanceof ApiError && (error.mayPass || error.status === 404),
    retryDelay: RETRY_MS,
  })
}

/** Returns the features that the map of a page highlights, and `show`, with which the table next to the map moves it. */
export function useVectorMap() {
  const map = useRef<MapLibre | null>(null)
  const [chosen, setChosen] = useState<readonly Feature[]>([])
  const [clicked, setClicked] = useState<readonly Feature[]>([])
  const onClick = useCallback((features: readonly Feature[]) => {
    setClicked(features)
    setChosen(features.slice(0, 1))
  }, [])
  const [view, setView] = useState<Bounds | null>(null)
  const onCamera = useCallback(() => setView(map.current === null ? null : viewOf(map.current)), [])
  const onReady = useCallback((ready: MapLibre) => {
    map.current = ready
    setView(viewOf(ready))
  }, [])
  const show = useCallback((feature: Feature) => {
    setChosen([feature])
    setClicked([])
    const bounds = boundsOf(feature.geometry)
    if (bounds === null || map.current === null) return
    map.current.fitBounds(unbroken(bounds), { padding: 60, maxZoom: MAX_ZOOM })
    map.current.getContainer().scrollIntoView({ block: 'nearest' })
  }, [])
  return { chosen, setChosen, clicked, onClick, view, onReady, onCamera, show }
}

/** Returns the bounds that a map shows, within one world. */
function viewOf(map: MapLibre): Bounds {
  const bounds = map.getBounds()
  const within = (degrees: number, most: number) => Math.max(-most, Math.min(most, Number(degrees.toFixed(6))))
  return [
    within(bounds.getWest(), 180),
    within(bounds.getSouth(), 90),
    within(bounds.getEast(), 180),
    within(bounds.getNorth(), 90),
  ]
}
