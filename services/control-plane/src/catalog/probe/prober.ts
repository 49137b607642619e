import type { RowOrder } from '@gateway/contracts/basemap.js'
import { sentence } from '@gateway/contracts/messages.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { listNumbers } from '@gateway/tilesets/folder/listing.js'
import { archiveStorageOf, probeTileSet } from '@gateway/tilesets/probe.js'
import { withRowOrder } from '@gateway/tilesets/rows/with-row-order.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'
import { HelperEnded, HelperProcess } from '../../platform/helper-process/helper-process.js'
import type { GeopackageProbeResult, ProbeAnswer, Probed, ProbeResult, ProbeTask } from './probe-result.js'
import { unreadable } from './unreadable.js'

/** The built file, also when the sources are run (in tests). */
const PROBE_PROCESS = new URL('../../../dist/catalog/probe/probe-process.js', import.meta.url)

/**
 * Limit: probing one archive. A large one on a slow disk takes a second or two; one that is crafted to never end must block neither the
 * scans of the cluster nor the answer to an import.
 */
const PROBE_LIMIT_MS = 10_000

/**
 * Probes tile sets and GeoPackages. Those that are files are probed in a child process, one at a time: their content is untrusted, and SQLite executes what their
 * schema says.
 */
export class Prober {
  readonly #helper = new HelperProcess<ProbeTask, ProbeAnswer<unknown>>(PROBE_PROCESS)
  readonly #limitMs: number
  /** the last task: the child process takes one at a time */
  #busy: Promise<unknown> = Promise.resolve()

  constructor(limitMs = PROBE_LIMIT_MS) {
    this.#limitMs = limitMs
  }

  /** Rejects with the disk's errors, when the file system does not answer, and with the signal's reason. */
  async probe(root: string, path: string, signal: AbortSignal): Promise<ProbeResult> {
    // Folders are only listed, which takes as long as it takes.
    const isFolder = archiveStorageOf(path) === null
    const result: ProbeResult = isFolder
      ? await probeFolder(root, path)
      : await this.#probeFile({ root, path, what: 'tile set' }, signal)
    if (result.state !== 'ok' || !result.probe.rowsAssumed || result.probe.format === 'pbf') return result
    // Pictures of one zoom have none to be compared with.
    if (isFolder && (await listNumbers(root, path)).length < 2) return result
    return { state: 'ok', probe: await this.#withRowOrder(root, path, result.probe, signal) }
  }

  /** By the pictures, which are decoded in the child process. One that crashes or takes too long tells nothing. */
  async #withRowOrder(root: string, path: string, probe: TileSetProbe, signal: AbortSignal): Promise<TileSetProbe> {
    const { storage, extension } = probe
    const answer = await this.#ask<RowOrder | null>(
      { root, path, what: 'row order', rows: { storage, extension } },
      signal,
    )
    return withRowOrder(probe, answer?.state === 'ok' ? answer.probe : null)
  }

  /** As `probe`. */
  probeGeopackage(root: string, path: string, signal: AbortSignal): Promise<GeopackageProbeResult> {
    return this.#probeFile({ root, path, what: 'geopackage' }, signal)
  }

  /** The names of the tables of tiles in a GeoPackage; as `probe`. */
  tileTables(root: string, path: string, signal: AbortSignal): Promise<Probed<readonly string[]>> {
    return this.#probeFile({ root, path, what: 'tile tables' }, signal)
  }

  end(): void {
    this.#helper.end()
  }

  async #probeFile<T>(task: ProbeTask, signal: AbortSignal): Promise<Probed<T>> {
    const answer = await this.#ask<T>(task, signal)
    if (answer === null) {
      const fileSystem = await this.#ask({ ...task, what: 'file system' }, signal)
      if (fileSystem === null) throw new Error('the file system that it is on does not answer')
      return { state: 'timeout' }
    }
    if (answer.state === 'failed') throw new Error(answer.message)
    return answer
  }

  /** null: no answer in time. */
  #ask<T>(task: ProbeTask, signal: AbortSignal): Promise<ProbeAnswer<T> | null> {
    const answer = this.#busy.then(() => this.#askNow<T>(task, signal))
    this.#busy = answer.catch(() => {})
    return answer
  }

  async #askNow<T>(task: ProbeTask, signal: AbortSignal): Promise<ProbeAnswer<T> | null> {
    try {
      return (await this.#helper.askWithin(task, this.#limitMs, signal)) as ProbeAnswer<T> | null
    } catch (error) {
      if (!(error instanceof HelperEnded) || signal.aborted) throw error
      return { state: 'broken', why: sentence('said.reader_crashed') }
    }
  }
}

async function probeFolder(root: string, path: string): Promise<ProbeResult> {
  try {
    const probe = await probeTileSet(root, path)
    return probe === null ? { state: 'empty' } : { state: 'ok', probe }
  } catch (error) {
    if (error instanceof BrokenArchiveError) return { state: 'broken', why: error.message }
    const confused = unreadable(error)
    if (confused !== null) return confused
    throw error
  }
}

/** Why a probe timed out, for operators. */
export const TIMED_OUT = `it could not be read within ${PROBE_LIMIT_MS / 1000} s`
