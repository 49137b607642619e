import { type ErrorCode, STATUS_OF_ERROR } from '@gateway/contracts/errors.js'
import {
  OTHER_USAGE,
  type RefusalReason,
  SIGNED_USAGE,
  type UsageAmounts,
  type UsageRefusals,
  type UsageRow,
} from '@gateway/contracts/usage.js'
import { USAGE_AMOUNTS } from '@gateway/contracts/without-schemas.js'
import type { TakenUsage } from '@gateway/native-edge/hot-tiles/response-counts.js'
import type { UsageName } from '../sync/catalog.js'

/** The kind of a response. A reason: the request was refused for it. `failed`: 5xx. `other`: any other response without a tile. */
export type Answered = 'tile' | 'tile_404' | RefusalReason | 'failed' | 'other'

const REASONS: { readonly [code in ErrorCode]?: RefusalReason } = {
  origin_not_allowed: 'origin',
  network_not_allowed: 'network',
  resource_not_granted: 'grant',
  outside_bounds: 'grant',
  scope_missing: 'scope',
  token_expired: 'expired',
  token_disabled: 'disabled',
  rate_limited: 'rate',
}

/** Returns the kind of the response to a request with a token that has this error. */
export function answeredWith(code: ErrorCode): Answered {
  return code === 'tile_not_found' ? 'tile_404' : (REASONS[code] ?? (STATUS_OF_ERROR[code] >= 500 ? 'failed' : 'other'))
}

const TOKEN = 'token:'
/** '' for signed URLs without a token. */
export const tokenUsage = (id: string): string => TOKEN + (id === '' ? SIGNED_USAGE : id)

/**
 * Limit: pairs of a token and a requested resource, natively and by JavaScript each, that a process counts between two reports; some 400 bytes each.
 * Requests of further pairs are counted separately for the token and for the resource.
 */
export const MAX_PAIRS = 32_768

const HOUR_MS = 3_600_000

/** Counts the map cells of requested tiles. */
export interface TileNotes {
  note(asked: UsageName, path: string, missing: boolean): void
}

/**
 * Usage on its way to the supervisor: without an object for each row, because tens of thousands of tokens would block the event loop for a tenth of a
 * second. A name may occur twice. The name of a pair is the name of a token, a space, and the name of the resource; its requests are not counted for
 * the two names separately.
 */
export interface UsageBatch extends TakenUsage {
  /** Milliseconds since 1970: a whole hour in UTC, or a whole day for cells of the map. */
  readonly at: number
  /** Reasons of refusals, by the names above. Native refusals are not included: their reason is a missing grant. */
  readonly refusals?: ReadonlyMap<string, UsageRefusals>
  /** Numbers of 5xx responses, which are never native, by the names above. */
  readonly failures?: ReadonlyMap<string, number>
  /** Time at which it was taken, milliseconds since 1970. */
  readonly takenMs?: number
  /** True if the batch is awaited, because a canary is judged by it. */
  readonly isUrgent?: boolean
}

/**
 * Counts this process's responses to requests with a token that the store knows, or with a valid signature, by pairs of token and requested resource,
 * since the last `take`. Other requests are not counted, so that strangers cannot fill the memory; proxied requests are not counted either.
 */
export class UsageCounts {
  /** By the names of the native table. */
  #amounts = new Map<string, UsageAmounts>()
  #refusals = new Map<string, UsageRefusals>()
  #failures = new Map<string, number>()
  #pairs = 0
  readonly #tiles: TileNotes
  readonly #maxPairs: number

  constructor(tiles: TileNotes, maxPairs = MAX_PAIRS) {
    this.#tiles = tiles
    this.#maxPairs = maxPairs
  }

  /**
   * `token` is its id, or '' for an admitted signed URL without a token. `asked` is null if the request is not for a resource of the catalog.
   * `bytes` are those of the body that are known to be sent. `path` is that of the tile, in the form of `/tiles/...`, if the response is about a
   * tile.
   */
  count(token: string, asked: UsageName | null, answered: Answered, bytes: number, path: string): void {
    for (const name of this.#namesOf(token, asked)) {
      add(amountsOf(this.#amounts, name), answered, bytes)
      if (answered === 'failed') this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1)
      else if (answered !== 'tile' && answered !== 'tile_404' && answered !== 'other') this.#noteRefusal(name, answered)
    }
    if (asked !== null && (answered === 'tile' || answered === 'tile_404'))
      this.#tiles.note(asked, path, answered === 'tile_404')
  }

  /** Adds further bytes of a response that was counted. */
  addBytes(token: string, asked: UsageName | null, bytes: number): void {
    if (bytes === 0) return
    for (const name of this.#namesOf(token, asked)) amountsOf(this.#amounts, name).bytes += bytes
  }

  /**
   * Returns all counts and resets them, including the native ones, by the names that were given for them; null if nothing was counted. They count for the
   * current hour, so this must be called every few seconds. `nowMs` is since 1970.
   */
  take(native: TakenUsage | null, nowMs: number, isUrgent = false): UsageBatch | null {
    const [counted, refusals, failures] = [this.#amounts, this.#refusals, this.#failures]
    this.#amounts = new Map()
    this.#refusals = new Map()
    this.#failures = new Map()
    this.#pairs = 0
    const batch = batchOf(Math.floor(nowMs / HOUR_MS) * HOUR_MS, counted, native)
    return batch === null ? null : { ...batch, refusals, failures, takenMs: nowMs, isUrgent }
  }

  /** Returns the pair, if it exists or there is room for it; otherwise both names separately. */
  #namesOf(token: string, asked: UsageName | null): readonly string[] {
    if (asked === null) return token === '' ? [] : [tokenUsage(token)]
    const pair = `${tokenUsage(token)} ${asked}`
    if (this.#amounts.has(pair)) return [pair]
    if (this.#pairs >= this.#maxPairs) return token === '' ? [asked] : [tokenUsage(token), asked]
    this.#pairs++
    return [pair]
  }

  #noteRefusal(name: string, reason: RefusalReason): void {
    let refusals = this.#refusals.get(name)
    if (refusals === undefined) {
      refusals = {}
      this.#refusals.set(name, refusals)
    }
    // biome-ignore lint/plugin: calendar, which operators read
    addRefusals(refusals, { [reason]: { requests: 1, lastMs: Date.now() } })
  }
}

/** Returns amounts by name, after the native ones; null if nothing was counted. */
export function batchOf(
  at: number,
  counted: ReadonlyMap<string, UsageAmounts>,
  native: TakenUsage | null = null,
): UsageBatch | null {
  const { names, amounts } = native ?? { names: '', amounts: new Float64Array() }
  if (names === '' && counted.size === 0) return null
  const all = new Float64Array(amounts.length + counted.size * USAGE_AMOUNTS.length)
  all.set(amounts)
  all.set(
    [...counted.values()].flatMap((one) => USAGE_AMOUNTS.map((amount) => one[amount])),
    amounts.length,
  )
  return { at, names: names + [...counted.keys()].map((name) => `${name}\0`).join(''), amounts: all }
}

/** A row that can still be added to. */
type GrowingRow = { -readonly [K in keyof UsageRow]: UsageRow[K] }

/**
 * Returns the rows of a batch: for a pair also those of its token and of its resource, for a version also that of its basemap. A resource without a
 * pair was requested by other tokens.
 */
export function usageRows({ at, names, amounts, refusals, failures, takenMs = 0 }: UsageBatch): UsageRow[] {
  const sums = new Map<string, UsageAmounts>()
  for (const [i, name] of names.split('\0').slice(0, -1).entries()) {
    const [requests = 0, tiles = 0, tile_404 = 0, refused = 0, bytes = 0] = amounts.subarray(5 * i, 5 * i + 5)
    addAmounts(amountsOf(sums, name), { requests, tiles, tile_404, refused, bytes })
  }
  const rows = new Map<string, GrowingRow>()
  for (const [name, sum] of sums) {
    const by = withNative(sum.refused, refusals?.get(name) ?? {}, takenMs)
    const more = sum.refused === 0 ? sum : { ...sum, refusals: by }
    const failed = failures?.get(name) ?? 0
    for (const [kind, id] of accountsOf(name)) {
      const key = `${kind} ${id}`
      const known = rows.get(key)
      const all = kind === 'version' && failed > 0 ? { ...more, failed } : more
      if (known !== undefined) addTo(known, all)
      else rows.set(key, copyOf({ kind, id, at, ...all }))
    }
  }
  return [...rows.values()]
}

/** A native refusal always means a missing grant. */
function withNative(refused: number, refusals: UsageRefusals, nowMs: number): UsageRefusals {
  const natively = Object.values(refusals).reduce((left, { requests }) => left - requests, refused)
  const all = structuredClone(refusals)
  if (natively > 0) addRefusals(all, { grant: { requests: natively, lastMs: nowMs } })
  return all
}

/** Returns the rows for which a name counts, by kind and id. */
function accountsOf(name: string): [kind: UsageRow['kind'], id: string][] {
  // A label may contain a space; the id of a token does not.
  const space = name.startsWith(TOKEN) ? name.indexOf(' ') : -1
  const isPair = space !== -1
  const token = isPair ? name.slice(TOKEN.length, space) : OTHER_USAGE
  const asked = name.slice(space + 1)
  const colon = asked.indexOf(':')
  const [kind, id] = [asked.slice(0, colon) as UsageRow['kind'], asked.slice(colon + 1)]
  if (kind === 'token' || kind === 'cell') return [[kind, id]]
  const accounts: [UsageRow['kind'], string][] = isPair && token !== SIGNED_USAGE ? [['token', token]] : []
  // A code contains no slash, because it is the name of a directory.
  const code = id.split('/', 1)[0] as string
  if (kind === 'version') accounts.push(['version', id])
  if (kind === 'vector') return [...accounts, ['vector', id], ['token,vector', `${token}/${id}`]]
  return [...accounts, ['basemap', code], ['token,basemap', `${token}/${code}`]]
}

function amountsOf(all: Map<string, UsageAmounts>, name: string): UsageAmounts {
  let amounts = all.get(name)
  if (amounts === undefined) {
    amounts = { requests: 0, tiles: 0, tile_404: 0, refused: 0, bytes: 0 }
    all.set(name, amounts)
  }
  return amounts
}

function add(amounts: UsageAmounts, answered: Answered, bytes: number): void {
  amounts.requests++
  if (answered === 'tile') amounts.tiles++
  else if (answered === 'tile_404') amounts.tile_404++
  else if (answered !== 'other' && answered !== 'failed') amounts.refused++
  amounts.bytes += bytes
}

function addAmounts(sum: UsageAmounts, more: UsageAmounts): void {
  for (const name of USAGE_AMOUNTS) sum[name] += more[name]
}

export function addTo(sum: GrowingRow, more: UsageAmounts & Pick<UsageRow, 'refusals' | 'failed'>): void {
  addAmounts(sum, more)
  if (more.failed !== undefined) sum.failed = (sum.failed ?? 0) + more.failed
  if (more.refusals === undefined) return
  sum.refusals ??= {}
  addRefusals(sum.refusals, more.refusals)
}

/** Returns a copy of the row that can be added to. */
export function copyOf(row: UsageRow): GrowingRow {
  return row.refusals === undefined ? { ...row } : { ...row, refusals: structuredClone(row.refusals) }
}

function addRefusals(sum: UsageRefusals, more: UsageRefusals): void {
  for (const [reason, { requests, lastMs }] of Object.entries(more) as [RefusalReason, Refused][]) {
    const known = sum[reason]
    sum[reason] = {
      requests: (known?.requests ?? 0) + requests,
      lastMs: Math.max(known?.lastMs ?? 0, lastMs),
    }
  }
}
type Refused = NonNullable<UsageRefusals[RefusalReason]>
