import { Skeleton } from '@mantine/core'
import { useTexts } from '../texts/texts.js'

export function MapSkeleton({ tall = false }: { tall?: boolean }) {
  const t = useTexts()
  return <Skeleton className={tall ? 'map map-tall' : 'map'} role="status" aria-label={t.common.loading(t.map.what)} />
}
