import type { AdminVector } from '@gateway/contracts/vector.js'
import { Alert, Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { previewTokenQuery } from '../../api/preview.js'
import { MapSkeleton } from '../../map/skeleton.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { isServed } from '../../ui/withdraw.js'
import { AttributesTable } from './attributes-table.js'
import { fetchDownload } from './download.js'
import { FeatureMap } from './feature-map.js'
import { canBeRead, readFeatures } from './features.js'

/** Larger ones are loaded on demand: this is some seconds on a slow line, and fits into a phone's memory. */
const AUTOMATIC_BYTES = 20e6

/** The features on the map and in a table. */
export function VectorPreview({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const formats = useFormats()
  const [anyway, setAnyway] = useState(false)
  if (!isServed(vector)) return <Alert color="orange">{t.withdraw.notShown}</Alert>
  if (!vector.available) return <Alert color="orange">{t.vectors.unavailable}</Alert>
  if (!canBeRead(vector.kind)) return <Alert color="blue">{t.vectors.noPreview}</Alert>
  if (vector.size > AUTOMATIC_BYTES && !anyway) {
    return (
      <Alert color="blue" title={t.vectors.tooBig(formats.bytes(vector.size), formats.bytes(AUTOMATIC_BYTES))}>
        <Stack gap="xs" align="flex-start">
          {t.vectors.tooBigAdvice}
          <Button size="xs" variant="default" onClick={() => setAnyway(true)}>
            {t.vectors.loadAnyway}
          </Button>
        </Stack>
      </Alert>
    )
  }
  return <LoadedPreview vector={vector} />
}

function LoadedPreview({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const token = useQuery(previewTokenQuery({ vector_code: vector.code }))
  const features = useQuery({
    queryKey: ['features', vector.code, vector.modified_at],
    queryFn: async ({ signal }) =>
      readFeatures(await fetchDownload(vector, token.data?.token as string, signal), vector.kind),
    enabled: token.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const error = token.error ?? features.error
  if (error !== null)
    return <Problem title={t.vectors.previewFailed} error={error} onRetry={() => void features.refetch()} />
  if (features.data === undefined) {
    return <MapSkeleton />
  }
  return (
    <>
      <FeatureMap name={vector.name} collection={features.data} />
      <Section title={t.vectors.attributes}>
        <AttributesTable features={features.data.features} />
      </Section>
    </>
  )
}
