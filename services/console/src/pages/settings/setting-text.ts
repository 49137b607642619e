import type { SettingView } from '@gateway/contracts/console.js'
import type { Texts } from '../../texts/en.js'
import type { Formats } from '../../ui/format.js'

const DAY_SECONDS = 86_400

/** Units of numbers by the last part of the setting's name. */
const UNITS: readonly (readonly [RegExp, (n: number, formats: Formats) => string])[] = [
  [/_(SECONDS|TTL|IDLE|WAITS)$/, (n, { duration }) => duration(n)],
  [/_DAYS$/, (n, { duration }) => duration(n * DAY_SECONDS)],
  [/_BYTES$/, (n, { bytes }) => bytes(n)],
]

/** Formats the value of a setting in units that people read. */
export function settingText(
  { name, value, secret, is_set }: SettingView,
  t: Texts['settings'],
  formats: Formats,
): string {
  if (secret && is_set) return t.secret
  if (value === null) return t.unset
  const parts = Array.isArray(value) ? value : [value]
  if (parts.length === 0) return t.emptyList
  const inUnit = UNITS.find(([names]) => names.test(name))?.[1]
  return parts.map((part) => (typeof part === 'number' && inUnit ? inUnit(part, formats) : String(part))).join(', ')
}
