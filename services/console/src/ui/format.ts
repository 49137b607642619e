import type { Language } from '../texts/language.js'

const LOCALES: Record<Language, string> = { en: 'en-GB', zh: 'zh-CN' }

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB']
const KILO = 1000

export interface Formats {
  readonly number: (n: number, digits?: number) => string
  /** requests per second, also rare ones: `1,204.5`, `0.005` */
  readonly rate: (perSecond: number) => string
  readonly percent: (share: number) => string
  readonly bytes: (n: number) => string
  /** in the viewer's zone */
  readonly dateTime: (iso: string) => string
  /** with the name of the zone */
  readonly dateTimeZone: (iso: string) => string
  readonly clock: (iso: string) => string
  /** day and time, without the year */
  readonly hour: (iso: string) => string
  /** time of less than a minute: `3.1 ms`, `1.2 s` */
  readonly latency: (seconds: number) => string
  /** the day in UTC */
  readonly day: (iso: string) => string
  readonly ago: (iso: string, now: number) => string
  /** at most two units: `30 days`, `1 minute, 15 seconds` */
  readonly duration: (seconds: number) => string
}

const STEPS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

export function createFormats(language: Language): Formats {
  const locale = LOCALES[language]
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const withZone = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' })
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  const hour = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const [rare, often] = [{ maximumSignificantDigits: 2 }, { maximumFractionDigits: 1 }].map(
    (digits) => new Intl.NumberFormat(locale, digits),
  ) as [Intl.NumberFormat, Intl.NumberFormat]
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const list = new Intl.ListFormat(locale, { type: 'unit', style: 'long' })
  const inUnit = (unit: string, n: number) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 }).format(n)
  return {
    number: (n, digits = 0) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(n),
    rate: (perSecond) => (perSecond < 1 ? rare : often).format(perSecond),
    percent: (share) => percent.format(share),
    bytes: (n) => {
      const step = n < KILO ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(n) / 3))
      const digits = step === 0 ? 0 : 1
      const value = new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(n / KILO ** step)
      return `${value} ${BYTE_UNITS[step]}`
    },
    dateTime: (iso) => dateTime.format(new Date(iso)),
    dateTimeZone: (iso) => withZone.format(new Date(iso)),
    clock: (iso) => clock.format(new Date(iso)),
    hour: (iso) => hour.format(new Date(iso)),
    latency: (seconds) => {
      const [value, unit] = seconds < 1 ? [seconds * 1000, 'ms'] : [seconds, 's']
      return `${new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 }).format(value)} ${unit}`
    },
    day: (iso) => day.format(new Date(iso)),
    ago: (iso, now) => {
      const seconds = (Date.parse(iso) - now) / 1000
      const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? STEPS[3]
      return relative.format(Math.round(seconds / size), unit)
    },
    duration: (seconds) => {
      const largest = STEPS.findIndex(([, size]) => seconds >= size)
      if (largest === -1) return inUnit('second', seconds)
      const [unit, size] = STEPS[largest] as (typeof STEPS)[number]
      const [lesser, lesserSize] = STEPS[largest + 1] ?? ['second', 1]
      if (unit === 'second') return inUnit(unit, seconds)
      const rest = Math.round((seconds % size) / lesserSize)
      // 59.7 seconds are shown as a minute.
      if (rest * lesserSize === size) return inUnit(unit, Math.floor(seconds / size) + 1)
      const parts = [inUnit(unit, Math.floor(seconds / size)), ...(rest === 0 ? [] : [inUnit(lesser, rest)])]
      return list.format(parts)
    },
  }
}
