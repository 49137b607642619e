import { Skeleton } from '@mantine/core'
import { useTexts } from '../texts/texts.js'

/** Shown until the chart library is loaded. A screen reader announces that the charts are loading. */
export function PlotSkeleton({ what }: { what: string }) {
  return <Skeleton className="plot" role="status" aria-label={useTexts().common.loading(what)} />
}
