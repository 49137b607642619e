import type { RefusalReason, UsageItem } from '@gateway/contracts/usage.js'
import type { Texts } from '../../texts/en.js'

/** Lists refused requests by reason. Refusals from before reasons were recorded come last. */
export function reasonsText(
  { refused, refused_by: by }: Pick<UsageItem, 'refused' | 'refused_by'>,
  t: Texts['usage'],
  number: (value: number) => string,
): string {
  const reasons = (Object.entries(by) as [RefusalReason, number][]).sort(([, a], [, b]) => b - a)
  const told = reasons.map(([reason, n]) => `${t.reasons[reason]}: ${number(n)}`)
  const rest = reasons.reduce((left, [, n]) => left - n, refused)
  return [...told, ...(rest > 0 ? [`${t.noReason}: ${number(rest)}`] : [])].join(', ')
}
