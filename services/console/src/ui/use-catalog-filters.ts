import { useTexts } from '../texts/texts.js'
import type { Filter } from './server-table.js'

/** What basemaps, versions and vectors can be narrowed to. */
export function useCatalogFilters(): readonly Filter[] {
  const t = useTexts()
  const yesOrNo = [
    ['true', t.common.yes],
    ['false', t.common.no],
  ] as const
  return [
    {
      name: 'available',
      label: t.basemaps.health,
      options: [
        ['true', t.common.available],
        ['false', t.common.unavailable],
      ],
    },
    { name: 'withdrawn', label: t.withdraw.isWithdrawn, options: yesOrNo },
    { name: 'source_enabled', label: t.withdraw.sourceEnabled, options: yesOrNo },
  ]
}
