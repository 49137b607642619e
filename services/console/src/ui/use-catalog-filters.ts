import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'
import type { Filter } from './filter-field.js'

/** The values of a filter that is true or false. */
export const yesOrNo = ({ common }: Texts) =>
  [
    ['true', common.yes],
    ['false', common.no],
  ] as const

/** What basemaps, versions and vectors can be narrowed to. */
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
