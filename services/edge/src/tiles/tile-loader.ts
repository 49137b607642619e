import { CachedFiles } from '@gateway/sendfile/cached-file.js'
import type { CatalogVersion } from '../catalog/catalog.js'
import type { DiskGate } from '../files/disk-gate.js'
import { type LoadedTile, loadTileLater, loadTileNow, SMALL_BYTES, type TilePlace } from './load-tile.js'
import { OpenFile } from './open-file.js'
import type { OpenedSets } from './opened-sets.js'

/** What became of a load. `busy`: the disk did not answer in time. */
export type LoadOutcome =
  | { readonly kind: 'tile'; readonly tile: LoadedTile }
  | { readonly kind: 'absent' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Somebody who waits for a tile. */
export interface Waiter {
  /** false: it has gone, and is told nothing */
  isWanted(): boolean
  /** Must not throw. The tile's body, where it is a part of a file, is the waiter's own to release. */
  settle(outcome: LoadOutcome): void
}

/**
 * Loads tiles that are not at hand: at once where the kernel has in memory what is needed, and otherwise by the thread pool, so that a
 * disk or a mount that does not answer keeps nobody waiting but those who want something of it.
 */
export class TileLoader {
  readonly #sets: OpenedSets
  readonly #gate: DiskGate
  /** null: the addon is missing, and every tile of a file is loaded by a thread */
  readonly #cached: CachedFiles | null
  readonly #loads = new Map<string, Waiter[]>()

  constructor(sets: OpenedSets, gate: DiskGate, cached: CachedFiles | string = CachedFiles.load(SMALL_BYTES)) {
    this.#sets = sets
    this.#gate = gate
    this.#cached = typeof cached === 'string' ? null : cached
  }

  /** See `loadTileNow`. */
  now(version: CatalogVersion, place: TilePlace): LoadedTile | null | 'not_now' {
    const set = this.#sets.get(version)
    if (set === undefined || !set.isLocal || this.#cached === null) return 'not_now'
    return loadTileNow(set, this.#cached, version.stored.format, place)
  }

  /** Several who wait for one tile share its loading. */
  later(version: CatalogVersion, place: TilePlace, waiter: Waiter): void {
    const key = `${version.contentId}/${place.z}/${place.x}/${place.y}`
    const waiting = this.#loads.get(key)
    if (waiting !== undefined) {
      waiting.push(waiter)
      return
    }
    const waiters = [waiter]
    this.#loads.set(key, waiters)
    const isOver = () => {
      if (this.#loads.get(key) === waiters) this.#loads.delete(key)
    }
    const settle = (outcome: LoadOutcome) => {
      isOver()
      settleAll(waiters, outcome)
    }
    this.#gate
      .run(version.root, {
        read: () => this.#load(version, place),
        discard: (late) => release(late),
        isWanted: () => {
          const isWanted = waiters.some((one) => one.isWanted())
          // Whoever comes now begins a load of their own.
          if (!isWanted) isOver()
          return isWanted
        },
      })
      .then(
        (loaded) => {
          if (!loaded.ok) settle({ kind: 'busy' })
          else settle(loaded.value === null ? { kind: 'absent' } : { kind: 'tile', tile: loaded.value })
        },
        (error) => settle({ kind: 'failed', error }),
      )
  }

  async #load(version: CatalogVersion, place: TilePlace): Promise<LoadedTile | null> {
    const held = await this.#sets.hold(version)
    if (held === null) return null
    try {
      return await loadTileLater(held.set, version.stored.format, place)
    } finally {
      held.release()
    }
  }
}

function release(tile: LoadedTile | null): void {
  if (tile !== null && !(tile.body instanceof Uint8Array)) tile.body.release()
}

function settleAll(waiters: readonly Waiter[], outcome: LoadOutcome): void {
  const shared =
    outcome.kind === 'tile' && !(outcome.tile.body instanceof Uint8Array) ? new OpenFile(outcome.tile.body) : null
  for (const waiter of waiters) {
    if (!waiter.isWanted()) continue
    if (outcome.kind !== 'tile' || shared === null) waiter.settle(outcome)
    else waiter.settle({ kind: 'tile', tile: { ...outcome.tile, body: shared.hold() } })
  }
  shared?.drop()
}
