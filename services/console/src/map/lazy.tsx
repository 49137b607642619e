import { type ComponentProps, lazy, Suspense } from 'react'
import { MapSkeleton } from './skeleton.js'

/** The map library is most of the console's size, so it is loaded only for maps. */
const LazyVersionMap = lazy(async () => ({ default: (await import('./version-map.js')).VersionMap }))
const LazyMapView = lazy(async () => ({ default: (await import('./map-view.js')).MapView }))

const LazyStyleMap = lazy(async () => ({ default: (await import('./style-map.js')).StyleMap }))

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
