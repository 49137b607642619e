import { type ErrorCode, STATUS_OF_ERROR } from '@gateway/contracts/errors.js'
import {
  OTHER_USAGE,
  type RefusalReason,
  SIGNED_USAGE,
  USAGE_AMOUNTS,
  type UsageAmounts,
  type UsageRefusals,
  type UsageRow,
} from '@gateway/contracts/usage.js'
import type { TakenUsage } from '@gateway/native-edge/hot-tiles/response-table.js'

/** What an answer was. A reason: it was refused for that. `failed`: 5xx. `other`: anything else that is no tile. */
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

/** What the answer to a request with a token is counted as if it has this error. */
export function answeredWith(code: ErrorCode): Answered {
  return code === 'tile_not_found' ? 'tile_404' : (REASONS[code] ?? (STATUS_OF_ERROR[code] >= 500 ? 'failed' : 'other'))
}

/** What was asked for, by kind and id: a version (which counts for its basemap too), or a basemap or vector. Also its name in the native table. */
export type UsageName = `${'version' | 'basemap' | 'vector'}:${string}`

const VERSION = 'version:'
export const versionUsage = (code: string, version: string): UsageName => `${VERSION}${code}/${version}`

const TOKEN = 'token:'
/** '': by signed addresses, without a token. */
export const tokenUsage = (id: string): string => TOKEN + (id === '' ? SIGNED_USAGE : id)

/**
 * Limit: pairs of a token and what it asks for, natively and by JavaScript each, that a process counts in between two tellings; some 400 bytes each.
 * Beyond it requests are counted for the token and for what they ask for, and there is no telling who asked for what.
 */
export const MAX_PAIRS = 32_768

const HOUR_MS = 3_600_000

/** Counts where on the map tiles were asked for. */
export interface TileNotes {
  note(asked: UsageName, path: string, missing: boolean): void
}

/**
 * Usage on its way to the supervisor: without an object for each row, since tens of thousands of tokens would hold up the event loop for a tenth of
 * a second. A name may stand in it twice. That of a pair is the name of a token, a space, and what it asked for; neither is in it by itself then.
 */
export interface UsageBatch extends TakenUsage {
  /** milliseconds since 1970, a whole hour in UTC; of cells of the map a whole day */
  readonly at: number
  /** by the names above: why requests were refused. The names of natively refused ones are not in here: those were not granted */
  readonly refusals?: ReadonlyMap<string, UsageRefusals>
  /** by the names above: answered 5xx, which never happens natively */
  readonly failures?: ReadonlyMap<string, number>
  /** when it was taken, milliseconds since 1970 */
  readonly takenMs?: number
  /** somebody waits for it: a canary is judged by it */
  readonly isUrgent?: boolean
}

/**
 * What requests with tokens that the store knows, or with good signatures, were answered by this process, for each token together with what was asked for:
 * since it was last taken. Of other requests nothing is counted here, so that strangers cannot fill the memory; neither is what is handed on to the control plane.
 */
export class UsageCounts {
  /** by the names of the native table */
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
   * `token`: its id; '': a signed address let in without one. `asked`: null where nothing of the catalog was. `bytes`: of the body, as far as they are known
   * to be sent. `path`: of the tile, in the form of `/tiles/...`, where it is one.
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

  /** Further bytes of an answer that was counted. */
  addBytes(token: string, asked: UsageName | null, bytes: number): void {
    if (bytes === 0) return
    for (const name of this.#namesOf(token, asked)) amountsOf(this.#amounts, name).bytes += bytes
  }

  /**
   * All that was counted, which begins anew, with what was answered natively, by the names that were given for it; null: nothing. It counts for the
   * hour of now: to be taken every few seconds. `nowMs`: since 1970.
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

  /** The pair, if there is one and it has room; else each by itself. */
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

/** Amounts by name, behind those that were counted natively; null: nothing. */
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

/** A row that is still added to. */
type GrowingRow = { -readonly [K in keyof UsageRow]: UsageRow[K] }

/**
 * The rows of a batch: of a pair also those of its token and of what it asked for, of a version also that of its basemap. What was asked for in no pair was
 * asked for by other tokens.
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

/** Natively a token is refused only because it is not granted what it asks for. */
function withNative(refused: number, refusals: UsageRefusals, nowMs: number): UsageRefusals {
  const natively = Object.values(refusals).reduce((left, { requests }) => left - requests, refused)
  const all = structuredClone(refusals)
  if (natively > 0) addRefusals(all, { grant: { requests: natively, lastMs: nowMs } })
  return all
}

/** To which rows a name counts, by kind and id. */
function accountsOf(name: string): [kind: UsageRow['kind'], id: string][] {
  // A label may hold a space, the id of a token does not.
  const space = name.startsWith(TOKEN) ? name.indexOf(' ') : -1
  const isPair = space !== -1
  const token = isPair ? name.slice(TOKEN.length, space) : OTHER_USAGE
  const asked = name.slice(space + 1)
  const colon = asked.indexOf(':')
  const [kind, id] = [asked.slice(0, colon) as UsageRow['kind'], asked.slice(colon + 1)]
  if (kind === 'token' || kind === 'cell') return [[kind, id]]
  const accounts: [UsageRow['kind'], string][] = isPair && token !== SIGNED_USAGE ? [['token', token]] : []
  // A code has no slash: it is the name of a directory.
  const code = id.split('/', 1)[0] as string
  if (kind === 'version') accounts.push(['version', id])
  if (kind === 'vector') return [...accounts, ['vector', id], ['token,vector', `${token}/${id}`]]
  return [...accounts, ['basemap', code], ['token,basemap', `${token}/${code}`]]
}

export function amountsOf(all: Map<string, UsageAmounts>, name: string): UsageAmounts {
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

/** A row of its own, to be added to. */
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
