import type { FieldType, SourceValue } from './feature.js'

/** Matches whole numbers that a double may not hold, as JSON values. Matches in texts cause only slower parsing. */
const LONG_NUMBER = /[:,[\s]-?\d{16,19}\s*[,}\]]/
/** Matches texts and numbers of JSON, and the numbers that JSON lacks. A text without an end matches up to the end of the input, in linear time. */
const TOKENS = /"(?:[^"\\]|\\[\s\S])*"?|-?(?:NaN|Infinity)\b|-?\d[\d.eE+-]*/g
/** Prefix, of a private character, of the texts that stand for long numbers between `parseJson` and its callers. */
const MARK = '\ue0f1'
const MARKED = /^\ue0f1-?\d{16,19}$/
const NESTED_MARKS = /"\ue0f1(-?\d{16,19})"/g

const LEAST = -(2n ** 63n)
const MOST = 2n ** 63n - 1n

/** Returns a whole number within 64 bits, as a bigint if a double does not hold it; null for other texts. */
export function wholeNumber(text: string): number | bigint | null {
  if (!/^-?(?:0|[1-9]\d{0,18})$/.test(text)) return null
  const number = Number(text)
  if (Number.isSafeInteger(number)) return number
  const exact = BigInt(text)
  return exact >= LEAST && exact <= MOST ? exact : null
}

/**
 * Parses JSON without a loss of digits: `jsonValue` and `idOf` return whole numbers beyond the range of doubles as they are. Reads the NaN and
 * Infinity of other writers as null. Throws SyntaxError.
 */
export function parseJson(text: string): unknown {
  if (LONG_NUMBER.test(text)) return JSON.parse(text.replace(TOKENS, marked))
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error
    return JSON.parse(text.replace(TOKENS, marked))
  }
}

function marked(token: string): string {
  if (token.startsWith('"')) return token
  if (token.endsWith('N') || token.endsWith('y')) return 'null'
  return typeof wholeNumber(token) === 'bigint' ? `"${MARK}${token}"` : token
}

/** Returns the id of a parsed feature; null if it has none. */
export function idOf(id: unknown): string | number | bigint | null {
  if (typeof id === 'number') return Number.isFinite(id) ? id : null
  if (typeof id !== 'string') return null
  // An address cannot name these: a client resolves them.
  if (id === '' || id === '.' || id === '..') return null
  return MARKED.test(id) ? BigInt(id.slice(MARK.length)) : id
}

/** The observed values of a field, from which its type follows. */
export const Seen = {
  text: 1,
  whole: 2,
  /** a whole number whose digits a double does not keep */
  long: 4,
  fraction: 8,
  boolean: 16,
  nested: 32,
  /** texts that are no dates, or no instants */
  noDate: 64,
  noInstant: 128,
} as const

/** Returns the bits of a parsed value. */
export function seenIn(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return MARKED.test(value) ? seenInWhole(BigInt(value.slice(MARK.length))) : seenInText(value)
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? Seen.whole : Seen.fraction
    case 'boolean':
      return Seen.boolean
    default:
      return value === null || value === undefined ? 0 : Seen.nested
  }
}

/** Returns the bits of a whole number. A double keeps the digits of some numbers beyond 2^53, such as those that were written from doubles. */
export function seenInWhole(value: number | bigint): number {
  return typeof value === 'bigint' && String(Number(value)) !== String(value) ? Seen.whole | Seen.long : Seen.whole
}

export function seenInText(text: string): number {
  if (text.length < 10 || text.length > 35) return Seen.text | Seen.noDate | Seen.noInstant
  return Seen.text | (isDate(text) ? 0 : Seen.noDate) | (isInstant(text) ? 0 : Seen.noInstant)
}

function isDate(text: string): boolean {
  return text.length === 10 && /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text)
}

/** RFC 3339, also without a zone. */
function isInstant(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/.test(text) &&
    isDay(text.slice(0, 10))
  )
}

function isDay(text: string): boolean {
  const parsed = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text)
}

/** Returns the type that holds all values of a field without a change. */
export function typeOfSeen(seen: number): FieldType {
  const kinds = seen & (Seen.text | Seen.whole | Seen.fraction | Seen.boolean | Seen.nested)
  if (kinds === Seen.text)
    return (seen & Seen.noDate) === 0 ? 'date' : (seen & Seen.noInstant) === 0 ? 'datetime' : 'string'
  if (kinds === Seen.whole) return 'integer'
  if (kinds === Seen.boolean) return 'boolean'
  // A column of doubles would round a long number.
  if ((kinds & ~(Seen.whole | Seen.fraction)) === 0 && kinds !== 0 && (seen & Seen.long) === 0) return 'number'
  return 'json'
}

/** Returns a parsed value in the form of its field. */
export function jsonValue(value: unknown, type: FieldType): SourceValue {
  if (value === null || value === undefined) return null
  if (type === 'json') return JSON.stringify(value).replace(NESTED_MARKS, '$1')
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'string') return MARKED.test(value) ? BigInt(value.slice(MARK.length)) : value
  return value as number
}
