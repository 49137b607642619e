import { randomUUID } from 'node:crypto'
import { OTHER_USAGE, type UsageRow } from '@gateway/contracts/usage.js'
import { addTo, copyOf } from './usage-counts.js'

/** Writes rows unless this batch of this writer was written before. */
export type SaveUsageRows = (writer: string, batch: number, rows: readonly UsageRow[]) => Promise<void>

/** Interval in ms of writes: including the interval of workers and the delay of a slow store, less than 30 s of usage are only in memory. */
export const USAGE_SAVE_MS = 15_000
/** Limit: rows in one statement, so that it holds its locks for only some milliseconds. */
const BATCH_ROWS = 2_000
/** Limit: rows that wait for an unreachable store; some 300 bytes each. */
const MAX_WAITING = 200_000
/** Limit: number of waiting rows up to which cells of the map, and pairs, are added too, so that accounted rows have room. */
const MAX_WITH_DETAILS = 100_000

/**
 * The usage that workers have reported and the store does not have yet. Each batch has a number: an unconfirmed batch is written again with the
 * same number and rows until the store has confirmed it, and the store accepts each number once.
 */
export class UsageLedger {
  readonly #save: SaveUsageRows
  readonly #writer = randomUUID()
  #waiting = new Map<string, UsageRow>()
  #batch: readonly UsageRow[] = []
  #number = 0
  #lost = 0
  #saving: Promise<void> | null = null

  constructor(save: SaveUsageRows) {
    this.#save = save
  }

  add(rows: readonly UsageRow[]): void {
    for (const row of rows) {
      if (this.#addIfRoom(row)) continue
      // A pair also counts for its token and map, so its requests are not lost, only the token of the pair.
      if (isPair(row)) this.#addIfRoom({ ...row, id: OTHER_USAGE + row.id.slice(row.id.indexOf('/')) }, MAX_WAITING)
      else this.#lost += row.requests
    }
  }

  #addIfRoom(row: UsageRow, most = isPair(row) || row.kind === 'cell' ? MAX_WITH_DETAILS : MAX_WAITING): boolean {
    const key = `${row.at} ${row.kind} ${row.id}`
    const known = this.#waiting.get(key)
    if (known !== undefined) addTo(known, row)
    else if (this.#waiting.size < most) this.#waiting.set(key, copyOf(row))
    else return false
    return true
  }

  /** Returns the number of requests since the last call whose usage was dropped because too many rows waited. */
  takeLost(): number {
    const lost = this.#lost
    this.#lost = 0
    return lost
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#batch.length === 0
  }

  /** Writes the waiting rows. Rejects if the store refuses them. Unconfirmed rows are kept. One run at a time. */
  save(): Promise<void> {
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = null
    })
    return this.#saving
  }

  async #saveAll(): Promise<void> {
    while (!this.isEmpty) {
      if (this.#batch.length === 0) this.#nextBatch()
      await this.#save(this.#writer, this.#number, this.#batch)
      this.#batch = []
    }
  }

  #nextBatch(): void {
    const keys = [...this.#waiting.keys()].slice(0, BATCH_ROWS)
    this.#batch = keys.map((key) => this.#waiting.get(key) as UsageRow)
    for (const key of keys) this.#waiting.delete(key)
    this.#number++
  }
}

function isPair({ kind }: UsageRow): boolean {
  return kind === 'token,basemap' || kind === 'token,vector'
}
