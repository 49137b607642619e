import { Skeleton } from '@mantine/core'
import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'

/** Shown until the chart library is loaded. A screen reader announces that the charts are loading. */
export function PlotSkeleton({ what }: { what: (t: Texts) => string }) {
  const t = useTexts()
  return <Skeleton className="plot" role="status" aria-label={t.common.loading(what(t))} />
}
