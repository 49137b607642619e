import { type ComponentProps, lazy, Suspense, useEffect } from 'react'
import { beginPart } from '../ui/first-page.js'
import { MapSkeleton } from './skeleton.js'

/** The map library is most of the console's size, so it is loaded only for maps. On the first page, everything else waits for it. */
function withLibrary<M, C>(load: () => Promise<M>, choose: (module: M) => C): () => Promise<{ default: C }> {
  return async () => {
    const end = beginPart()
    try {
      return { default: choose(await load()) }
    } finally {
      end()
    }
  }
}

const LazyVersionMap = lazy(
  withLibrary(
    () => import('./version-map.js'),
    (module) => module.VersionMap,
  ),
)
const loadMapView = withLibrary(
  () => import('./map-view.js'),
  (module) => module.MapView,
)
const LazyMapView = lazy(loadMapView)
const loadStyleMap = withLibrary(
  () => import('./style-map.js'),
  (module) => module.StyleMap,
)
const LazyStyleMap = lazy(loadStyleMap)

export function VersionMap(props: ComponentProps<typeof LazyVersionMap>) {
  return (
    <Suspense fallback={<MapSkeleton tall={props.tall ?? false} />}>
      <LazyVersionMap {...props} />
    </Suspense>
  )
}

export function MapView(props: ComponentProps<typeof LazyMapView>) {
  return (
    <Suspense fallback={<MapSkeleton />}>
      <LazyMapView {...props} />
    </Suspense>
  )
}

export function StyleMap(props: ComponentProps<typeof LazyStyleMap>) {
  return (
    <Suspense fallback={<MapSkeleton tall />}>
      <LazyStyleMap {...props} />
    </Suspense>
  )
}

/** Begins to load the map library while the content of a map is still being requested. */
export function useMapLibrary(of: 'view' | 'style' = 'view'): void {
  useEffect(() => void (of === 'view' ? loadMapView() : loadStyleMap()).catch(() => {}), [of])
}
