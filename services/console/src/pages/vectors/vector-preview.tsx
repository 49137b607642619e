import type { AdminVector } from '@gateway/contracts/vector.js'
import { Alert, Button, Stack } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { previewTokenQuery } from '../../api/preview.js'
import { MapSkeleton } from '../../map/skeleton.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { isServed } from '../../ui/withdraw.js'
import { AttributesTable } from './attributes-table.js'
import { fetchDownload } from './download.js'
import { FeatureMap } from './feature-map.js'
import { canBeRead, readFeatures } from './features.js'

/** Maximum size of an automatic preview in bytes: some seconds on a slow line, and small enough for a phone's memory. Larger vectors load on request. */
const AUTOMATIC_BYTES = 20e6

/** True if the features are loaded without a click. */
export function isReadAtOnce(vector: AdminVector): boolean {
  return isServed(vector) && vector.available && canBeRead(vector.kind) && vector.size <= AUTOMATIC_BYTES
}

interface VectorMapProps {
  readonly vector: AdminVector
  /** true if the features are to be loaded */
  readonly read: boolean
  /** called if the user asks for the features, whatever their size */
  readonly onRead: () => void
}

/** The features on the map, or the reason why they are not shown. */
export function VectorMap({ vector, read, onRead }: VectorMapProps) {
  const t = useTexts()
  const formats = useFormats()
  if (!isServed(vector)) return <Alert color="orange">{t.withdraw.notShown}</Alert>
  if (!vector.available) return <Alert color="orange">{t.vectors.unavailable}</Alert>
  if (!canBeRead(vector.kind)) return <Alert color="blue">{t.vectors.noPreview}</Alert>
  if (read) return <LoadedMap vector={vector} />
  return (
    <Alert color="blue" title={t.vectors.tooBig(formats.bytes(vector.size), formats.bytes(AUTOMATIC_BYTES))}>
      <Stack gap="xs" align="flex-start">
        {t.vectors.tooBigAdvice}
        <Button size="xs" variant="default" onClick={onRead}>
          {t.vectors.loadAnyway}
        </Button>
      </Stack>
    </Alert>
  )
}

function featuresQuery(vector: AdminVector, token: string | undefined) {
  return queryOptions({
    queryKey: ['features', vector.code, vector.modified_at],
    queryFn: async ({ signal }) => readFeatures(await fetchDownload(vector, token as string, signal), vector.kind),
    enabled: token !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/** Loads the features once for the map and the table. */
function useFeatures(vector: AdminVector) {
  const token = useQuery(previewTokenQuery({ vector_code: vector.code }))
  const features = useQuery(featuresQuery(vector, token.data?.token))
  return { token, features }
}

function LoadedMap({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const { token, features } = useFeatures(vector)
  const error = token.error ?? features.error
  if (error !== null)
    return <Problem title={t.vectors.previewFailed} error={error} onRetry={() => void features.refetch()} />
  if (features.data === undefined) return <MapSkeleton tall />
  return <FeatureMap name={vector.name} collection={features.data} />
}

export function VectorAttributes({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const { features } = useFeatures(vector)
  return (
    <Section title={t.vectors.attributes} quiet>
      <Loaded query={features} what={t.vectors.attributes}>
        {({ features }) => <AttributesTable features={features} />}
      </Loaded>
    </Section>
  )
}
