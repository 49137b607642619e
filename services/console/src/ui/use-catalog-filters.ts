import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'
import type { Filter } from './filter-field.js'

/** Values of a boolean filter. */
export const yesOrNo = ({ common }: Texts) =>
  [
    ['true', common.yes],
    ['false', common.no],
  ] as const

/** The common filters of basemaps, versions and vectors. */
export function useCatalogFilters(): readonly Filter<'available' | 'withdrawn' | 'source_enabled'>[] {
  const t = useTexts()
  return [
    {
      name: 'available',
      label: t.basemaps.health,
      options: [
        ['true', t.common.available],
        ['false', t.common.unavailable],
      ],
    },
    { name: 'withdrawn', label: t.withdraw.isWithdrawn, options: yesOrNo(t) },
    { name: 'source_enabled', label: t.withdraw.sourceEnabled, options: yesOrNo(t) },
  ]
}
