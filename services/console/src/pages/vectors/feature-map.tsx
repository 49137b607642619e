import { Paper } from '@mantine/core'
import type { FeatureCollection } from 'geojson'
import type { LayerSpecification, MapMouseEvent } from 'maplibre-gl'
import { useMemo, useState } from 'react'
import { MapView } from '../../map/lazy.js'
import { Fact, Facts } from '../../ui/facts.js'
import { attributeText, boundsOf } from './features.js'

const COLOUR = '#178c9c'

const LAYERS: readonly LayerSpecification[] = [
  {
    id: 'areas',
    type: 'fill',
    source: 'features',
    filter: ['==', ['geometry-type'], 'Polygon'],
    paint: { 'fill-color': COLOUR, 'fill-opacity': 0.25 },
  },
  {
    id: 'lines',
    type: 'line',
    source: 'features',
    filter: ['!=', ['geometry-type'], 'Point'],
    paint: { 'line-color': COLOUR, 'line-width': 1.5 },
  },
  {
    id: 'points',
    type: 'circle',
    source: 'features',
    filter: ['==', ['geometry-type'], 'Point'],
    paint: {
      'circle-color': COLOUR,
      'circle-radius': 5,
      'circle-stroke-width': 1,
      'circle-stroke-color': '#fff',
    },
  },
]

/** Features on an empty background; a click shows the attributes of one feature. */
export function FeatureMap({ name, collection }: { name: string; collection: FeatureCollection }) {
  const [chosen, setChosen] = useState<Readonly<Record<string, unknown>> | null>(null)
  const bounds = useMemo(() => boundsOf(collection), [collection])
  const content = useMemo(
    () => ({ sources: { features: { type: 'geojson' as const, data: collection } }, layers: LAYERS }),
    [collection],
  )
  const onClick = ({ point, target }: MapMouseEvent) =>
    setChosen(target.queryRenderedFeatures(point)[0]?.properties ?? null)
  return (
    <div>
      <MapView label={name} content={content} bounds={bounds} onClick={onClick} tall />
      <div aria-live="polite">
        {chosen !== null && (
          <Paper withBorder p="md" className="card">
            <Facts>
              {Object.entries(chosen).map(([key, value]) => (
                <Fact key={key} name={key}>
                  {attributeText(value) || '–'}
                </Fact>
              ))}
            </Facts>
          </Paper>
        )}
      </div>
    </div>
  )
}
