import type { AdminVector } from '@gateway/contracts/vector.js'
import { MAX_WHOLE_BYTES } from '@gateway/contracts/without-schemas.js'
import { Alert, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Feature } from 'geojson'
import type { MapMouseEvent } from 'maplibre-gl'
import { useMemo } from 'react'
import { featuresQuery, MAX_DRAWN } from '../../api/features.js'
import { MapView, useMapLibrary } from '../../map/lazy.js'
import type { MapLibre } from '../../map/library.js'
import { MapSkeleton } from '../../map/skeleton.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'
import { useFormats } from '../../ui/use-formats.js'
import { isServed } from '../../ui/withdrawn.js'
import { featureContent, isOfVector, tileContent, withChosen } from './tile-content.js'
import { useTileLayers, useVectorToken } from './use-vector-map.js'

/** Pixels around a click in which features are looked for: a finger does not hit a line. */
const REACH = 4

interface VectorMapProps {
  readonly vector: AdminVector
  /** drawn over the others */
  readonly chosen: readonly Feature[]
  /** features of the vector at a click */
  readonly onClicked: (features: readonly Feature[]) => void
  readonly onReady: (map: MapLibre) => void
  readonly onCamera: () => void
}

/** A vector on the map, or why it is not shown. */
export function VectorMap(props: VectorMapProps) {
  const t = useTexts()
  const { vector } = props
  const { status, built_at: builtAt } = vector.tiles
  if (!isServed(vector)) return <Alert color="orange">{t.withdraw.notShown}</Alert>
  if (!vector.available) return <Alert color="orange">{t.vectors.unavailable}</Alert>
  if (builtAt !== null)
    return (
      <Stack gap={4}>
        <TiledMap {...props} />
        {status === 'building' && (
          <Text size="sm" c="dimmed" role="status">
            {t.vectors.tilesOld}
          </Text>
        )}
      </Stack>
    )
  if (status === 'building' && vector.size > MAX_WHOLE_BYTES)
    return <Alert color="blue">{t.vectors.tilesWaiting}</Alert>
  return <UntiledMap {...props} />
}

function TiledMap(props: VectorMapProps) {
  const t = useTexts()
  useMapLibrary()
  const { vector } = props
  const token = useVectorToken(vector)
  const tileJson = useTileLayers(vector, token.data?.token)
  const layers = tileJson.data?.vector_layers?.map(({ id }) => id).join('\n')
  const content = useMemo(
    () => (layers === undefined ? null : tileContent(vector, layers.split('\n'))),
    [vector, layers],
  )
  const error = token.error ?? tileJson.error
  if (error !== null)
    return <Problem title={t.vectors.previewFailed} error={error} onRetry={() => void tileJson.refetch()} />
  if (content === null || token.data === undefined) return <MapSkeleton tall />
  return <FeatureMap {...props} content={content} token={token.data.token} />
}

/** The first features of the file itself. */
function UntiledMap(props: VectorMapProps) {
  const t = useTexts()
  const formats = useFormats()
  useMapLibrary()
  const { vector } = props
  const token = useVectorToken(vector)
  const all = { filter: '', sort: null, bbox: null, attributes: [], cursor: null, limit: MAX_DRAWN }
  const { data, error, refetch } = useQuery(featuresQuery(vector, token.data?.token, all))
  const content = useMemo(
    () =>
      data === undefined
        ? null
        : featureContent({
            type: 'FeatureCollection',
            features: [...data.features],
          }),
    [data],
  )
  const failed = token.error ?? error
  if (failed !== null) return <Problem title={t.vectors.previewFailed} error={failed} onRetry={() => void refetch()} />
  if (content === null) return <MapSkeleton tall />
  return (
    <Stack gap={4}>
      <FeatureMap {...props} content={content} />
      <Text size="sm" c="dimmed">
        {t.vectors.withoutTiles(formats.number(MAX_DRAWN))}
      </Text>
    </Stack>
  )
}

interface FeatureMapProps extends VectorMapProps {
  readonly content: ReturnType<typeof tileContent>
  readonly token?: string
}

function FeatureMap({ vector, content, token, chosen, onClicked, onReady, onCamera }: FeatureMapProps) {
  const shown = useMemo(() => withChosen(content, chosen), [content, chosen])
  const onClick = ({ point: { x, y }, target }: MapMouseEvent) => {
    const found = target.queryRenderedFeatures([
      [x - REACH, y - REACH],
      [x + REACH, y + REACH],
    ])
    onClicked(found.filter(isOfVector).map(({ id, geometry, properties }) => plainFeature(id, geometry, properties)))
  }
  return (
    <MapView
      label={vector.name}
      content={shown}
      bounds={vector.bounds}
      onClick={onClick}
      onReady={onReady}
      onCamera={onCamera}
      tall
      {...(token !== undefined && { token })}
    />
  )
}

function plainFeature(id: Feature['id'], geometry: Feature['geometry'], properties: Feature['properties']): Feature {
  return { type: 'Feature', geometry, properties, ...(id !== undefined && { id }) }
}
