import { useEffect } from 'react'
import { beginPart } from '../ui/first-page.js'
import { part } from '../ui/part.js'
import type { MapViewProps } from './map-view.js'
import { MapSkeleton } from './skeleton.js'
import type { StyleMapProps } from './style-map.js'
import type { VersionMapProps } from './version-map.js'

/** The map library is most of the console's size, so it is loaded only for maps. On the first page, everything else waits for it. */
async function withLibrary<C>(load: () => Promise<C>): Promise<C> {
  const end = beginPart()
  try {
    return await load()
  } finally {
    end()
  }
}

export const VersionMap = part<VersionMapProps>(
  () => withLibrary(async () => (await import('./version-map.js')).VersionMap),
  { Pending: ({ tall }) => <MapSkeleton tall={tall ?? false} /> },
)

export const MapView = part<MapViewProps>(() => withLibrary(async () => (await import('./map-view.js')).MapView), {
  Pending: () => <MapSkeleton />,
})

export const StyleMap = part<StyleMapProps>(() => withLibrary(async () => (await import('./style-map.js')).StyleMap), {
  Pending: () => <MapSkeleton tall />,
})

/** Begins to load the map library while the content of a map is still being requested. */
export function useMapLibrary(of: 'view' | 'style' = 'view'): void {
  useEffect(() => void (of === 'view' ? MapView : StyleMap).prepare(), [of])
}
