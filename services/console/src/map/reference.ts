import { queryOptions, useQuery } from '@tanstack/react-query'
import type { FeatureCollection, Polygon } from 'geojson'
import { useFirstPageDrawn } from '../ui/first-page.js'
import type { MapContent } from './map-view.js'
import { inPlane } from './version-content.js'

/** Address of the coasts and borders; the bundler's configuration makes them. */
declare const __REFERENCE_MAP__: string

const referenceQuery = queryOptions({
  queryKey: ['reference-map'],
  queryFn: async ({ signal }) => {
    const answer = await fetch(__REFERENCE_MAP__, { signal })
    if (!answer.ok) throw new Error(`${answer.status}`)
    return (await answer.json()) as FeatureCollection<Polygon>
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})

/** Returns coasts and borders once they are requested and loaded, which the map itself does not wait for. */
export function useReference(wanted: boolean): FeatureCollection<Polygon> | undefined {
  const isDrawn = useFirstPageDrawn()
  return useQuery({ ...referenceQuery, enabled: wanted && isDrawn }).data
}

/** Colours that match the background of maps, `--map-background`, in both schemes. */
const COLOURS = {
  light: { land: '#f4f1ea', border: '#9aa5ab' },
  dark: { land: '#343c42', border: '#6b757c' },
} as const

/** A map with coasts and borders below all that it shows. */
export function withReference(content: MapContent, data: FeatureCollection<Polygon> | undefined): MapContent {
  if (data === undefined) return content
  const { land, border } = COLOURS[document.documentElement.dataset.mantineColorScheme === 'dark' ? 'dark' : 'light']
  const own = { reference: { type: 'geojson' as const, data } }
  return {
    ...content,
    sources: { ...(content.projection === undefined ? own : inPlane(own)), ...content.sources },
    layers: [
      { id: 'reference land', type: 'fill', source: 'reference', paint: { 'fill-color': land } },
      {
        id: 'reference borders',
        type: 'line',
        source: 'reference',
        paint: { 'line-color': border, 'line-width': 0.8 },
      },
      ...content.layers,
    ],
  }
}
