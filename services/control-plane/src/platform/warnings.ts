import { nearest } from '@gateway/contracts/input/nearest.js'
import { coded } from '@gateway/contracts/messages.js'
import { GRANT_ALL } from '@gateway/contracts/token.js'
import { type Warning, warningOf } from '@gateway/contracts/warning.js'
import { firstCodes, unknownBasemaps, unknownVectors } from '@gateway/store/grants.js'
import type { Queryable } from '@gateway/store/sql.js'

/** Limit: names in one warning. */
const MAX_NAMED = 5
const MAX_NAME = 100

const KINDS = {
  basemap: { unknown: unknownBasemaps, table: 'basemaps' },
  vector: { unknown: unknownVectors, table: 'vectors' },
} as const

/** A list of codes in a body. */
export interface GivenCodes {
  readonly field: string
  readonly kind: keyof typeof KINDS
  readonly codes: readonly string[] | undefined
}

/** Warns of codes that do not exist, once for each list. They are kept, because basemaps and vectors with these codes may still be added. */
export async function codeWarnings(sql: Queryable, lists: readonly GivenCodes[]): Promise<Warning[]> {
  const warnings: Warning[] = []
  for (const { field, kind, codes = [] } of lists) {
    const named = codes.filter((code) => code !== GRANT_ALL && !code.includes('\0'))
    const unknown = named.length === 0 ? [] : await KINDS[kind].unknown(sql, named)
    if (unknown.length === 0) continue
    const known = await firstCodes(sql, KINDS[kind].table)
    warnings.push(warningOf(coded('unknown_code', { field, kind: `said.${kind}`, names: namesOf(unknown, known) })))
  }
  return warnings
}

function namesOf(unknown: readonly string[], known: readonly string[]): string {
  const named = unknown.slice(0, MAX_NAMED).map((code) => {
    const near = nearest(code, known)
    const shown = JSON.stringify(code.length <= MAX_NAME ? code : `${code.slice(0, MAX_NAME)}…`)
    return near === null ? shown : `${shown} (did you mean ${JSON.stringify(near)}?)`
  })
  return unknown.length > MAX_NAMED ? `${named.join(', ')} and ${unknown.length - MAX_NAMED} more` : named.join(', ')
}

/** Warns of a moment that has passed. */
export function expiryWarnings(field: string, expiresAt: string | null, nowMs: number): Warning[] {
  if (expiresAt === null || Date.parse(expiresAt) > nowMs) return []
  return [warningOf(coded('expiry_past', { field, time: expiresAt }))]
}
