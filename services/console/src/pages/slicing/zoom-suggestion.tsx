import { Alert, Button, Group, Text } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../api/client.js'
import { estimateQuery, type SliceBody } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { ErrorText } from '../../ui/server-text.js'

interface ZoomSuggestionProps {
  readonly of: Pick<SliceBody, 'source_paths' | 'tile_size' | 'tile_matrix_set' | 'encoding'>
  readonly zoomMax: number
  /** true while nobody has chosen the zoom: it follows the images */
  readonly follows: boolean
  readonly onTake: (zoom: number) => void
}

/** Maximum number of images whose headers are read without a click; each costs the server a process. */
const MAX_IMAGES = 20

/** Suggests the zoom of the images' resolution as soon as they are chosen, or says why they cannot be sliced. */
export function ZoomSuggestion({ of, zoomMax, follows, onTake }: ZoomSuggestionProps) {
  const t = useTexts().slicing
  // The query depends neither on the layer nor on the format.
  const { source_paths, tile_size, tile_matrix_set, encoding } = of
  const query = estimateQuery({
    source_paths,
    tile_size,
    tile_matrix_set,
    encoding,
    target_code: 'layer',
    zoom_min: 0,
    zoom_max: 'native',
    tile_format: 'webp',
  })
  const isAsked = source_paths.length > 0 && source_paths.length <= MAX_IMAGES && !source_paths.some(isObject)
  const { data, error } = useQuery({ ...query, ...(!isAsked && { queryFn: skipToken }), retry: false })
  const suggested = data?.max_zoom
  useEffect(() => {
    if (follows && suggested !== undefined && suggested !== zoomMax) onTake(suggested)
  }, [follows, suggested, zoomMax, onTake])
  if (!isAsked) return null
  if (error !== null) {
    const isRefused = error instanceof ApiError && error.status === 400
    return isRefused ? (
      <Alert color="orange">
        <Text size="sm" fw={550}>
          {t.cannot}
        </Text>
        <ErrorText error={error} />
      </Alert>
    ) : null
  }
  if (data === undefined) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t.suggesting}
      </Text>
    )
  }
  return (
    <Group gap="xs">
      <Text size="sm">{t.suggested(data.max_zoom)}</Text>
      {data.max_zoom !== zoomMax && (
        <Button size="compact-xs" variant="default" onClick={() => onTake(data.max_zoom)}>
          {t.take(data.max_zoom)}
        </Button>
      )}
    </Group>
  )
}

/** True for images in object storage, which are inspected only when they are sliced. */
function isObject(path: string): boolean {
  return path.startsWith('s3://')
}
