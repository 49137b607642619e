import type { z } from 'zod'
import { type CodedMessage, coded } from '../messages.js'
import { nearest } from './nearest.js'
import { shownValue } from './shown-value.js'

type Issue = z.core.$ZodIssue

/** The field and its surroundings, from which the intent is guessed. */
export interface Given {
  readonly field: string
  readonly value: unknown
  /** the list that contains the value, or the value itself if it is a list */
  readonly list: unknown
}

/** Returns the probable intent if it is clear enough, or null. Repeats nothing that `shownValue` would hide. */
export function intentOf(issue: Issue, given: Given): CodedMessage | null {
  if (shownValue(given.value, given.field) === null) return null
  return swappedBounds(given) ?? instantMeant(issue, given.value) ?? valueMeant(issue, given)
}

function valueMeant(issue: Issue, { field, value }: Given): CodedMessage | null {
  for (const one of withAlternatives(issue)) {
    // A number in quotes would not be an instant either.
    if (one.code === 'invalid_type' && one.expected === 'string' && isOfInstant(issue)) continue
    const meant = one.code === 'invalid_value' ? enumMeant(one.values, value) : typeMeant(one, field, value)
    if (meant !== null) return meant
  }
  return null
}

function withAlternatives(issue: Issue): Issue[] {
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(withAlternatives) : [issue]
}

function didYouMean(value: string | number | boolean | readonly unknown[]): CodedMessage {
  return coded('input.did_you_mean', { value: JSON.stringify(value) })
}

function enumMeant(values: readonly unknown[], value: unknown): CodedMessage | null {
  const same = values.find((one) => typeof one !== typeof value && String(one) === String(value))
  if (same !== undefined) return didYouMean(same as string)
  if (typeof value !== 'string') return null
  const name = nearest(
    value,
    values.filter((one) => typeof one === 'string'),
  )
  return name === null ? null : didYouMean(name)
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function typeMeant(issue: Issue, field: string, value: unknown): CodedMessage | null {
  if (issue.code !== 'invalid_type') return null
  const expected: string = issue.expected
  if (expected === 'array' && (typeof value === 'string' || typeof value === 'number')) {
    const shown = shownValue(value, field)
    return shown === null ? null : coded('input.did_you_mean', { value: `[${shown}]` })
  }
  if (expected === 'string' && typeof value === 'number') return didYouMean(String(value))
  if (expected === 'boolean') {
    if (/^(true|1|yes|on)$/i.test(String(value))) return didYouMean(true)
    return /^(false|0|no|off)$/i.test(String(value)) ? didYouMean(false) : null
  }
  if (expected === 'object' && typeof value === 'string' && /^\s*\{/.test(value)) return coded('input.as_json')
  const isNumber = expected === 'number' || expected === 'int'
  if (!isNumber || typeof value !== 'string') return null
  if ((expected === 'int' ? /^-?\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,15})?$/).test(value)) return didYouMean(Number(value))
  const span = /^(\d{1,9})([smhd])$/.exec(value)
  return span !== null && /seconds/.test(field)
    ? didYouMean(Number(span[1]) * (SECONDS[span[2] as string] as number))
    : null
}

/** True if the field takes an instant or a date. For a number, zod does not reach the check of the format. */
function isOfInstant(issue: Issue): boolean {
  const isFormat = withAlternatives(issue).some(
    (one) => one.code === 'invalid_format' && (one.format === 'datetime' || one.format === 'date'),
  )
  return isFormat || issue.message.includes('ISO 8601')
}

/** Recognises seconds or milliseconds since 1970, and dates with the separators of other notations. */
function instantMeant(issue: Issue, value: unknown): CodedMessage | null {
  if (!isOfInstant(issue)) return null
  const digits = String(value)
  if (/^\d{10}$|^\d{13}$/.test(digits)) {
    const at = new Date(Number(digits) * (digits.length === 10 ? 1000 : 1))
    return didYouMean(at.toISOString())
  }
  const parts = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[ T](\d{2}:\d{2}(?::\d{2})?)(Z?))?$/.exec(digits)
  if (parts === null) return null
  const [, year, month = '', day = '', time, zone = ''] = parts
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const meant = time === undefined ? date : `${date}T${time}${zone}`
  // A day that the month does not have rolls over into the next month.
  const at = Date.parse(date)
  const isDay = !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
  return isDay && meant !== digits ? didYouMean(meant) : null
}

/** Recognises latitudes before longitudes, or corners in another order, in a list of four degrees. */
function swappedBounds({ field, value, list }: Given): CodedMessage | null {
  const degrees = Array.isArray(value) ? value : list
  if (!/bounds|bbox/.test(field) || !Array.isArray(degrees) || degrees.length !== 4) return null
  if (!degrees.every((one) => typeof one === 'number')) return null
  const [a, b, c, d] = degrees as [number, number, number, number]
  // The first valid order wins. Bounds that are already valid need no other order.
  const orders = [
    [b, a, d, c],
    [a, c, b, d],
    [a, d, c, b],
  ] as const
  const meant = isPlace([a, b, c, d]) ? undefined : orders.find(isPlace)
  return meant === undefined ? null : coded('input.bounds_swapped', { value: JSON.stringify(meant) })
}

function isPlace([west, south, east, north]: readonly [number, number, number, number]): boolean {
  return (
    Math.max(Math.abs(west), Math.abs(east)) <= 180 && Math.max(Math.abs(south), Math.abs(north)) <= 90 && south < north
  )
}
