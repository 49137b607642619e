import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { sentence } from '@gateway/contracts/messages.js'
import { HelperEnded, HelperProcess } from '@gateway/core/processes/helper-process.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { probeTransposed } from '@gateway/tilesets/layouts/probe.js'
import { archiveStorageOf, probeTileSet } from '@gateway/tilesets/probe.js'
import { type NumberOrder, withRowOrder } from '@gateway/tilesets/rows/with-row-order.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'
import type { GeopackageProbeResult, ProbeAnswer, Probed, ProbeResult, ProbeTask } from './probe-result.js'
import { unreadable } from './unreadable.js'

/** The built file, even when the sources run (in tests). */
const PROBE_PROCESS = new URL('../../../dist/catalog/probe/probe-process.js', import.meta.url)

/**
 * Maximum time to probe one archive. A large one on a slow disk takes a second or two. An archive crafted to never end must block neither the
 * scans of the cluster nor the response to an import.
 */
const PROBE_LIMIT_MS = 10_000

/**
 * Probes tile sets and GeoPackages. Files are probed in a child process, one at a time: their content is untrusted, and SQLite executes
 * their schema.
 */
export class Prober {
  readonly #helper = new HelperProcess<ProbeTask, ProbeAnswer<unknown>>(PROBE_PROCESS)
  readonly #limitMs: number
  /** the last task; the child process runs one at a time */
  #busy: Promise<unknown> = Promise.resolve()

  constructor(limitMs = PROBE_LIMIT_MS) {
    this.#limitMs = limitMs
  }

  /** Rejects with the disk's errors, if the file system does not respond, and with the signal's reason. */
  async probe(root: string, path: string, signal: AbortSignal): Promise<ProbeResult> {
    // Folders are only listed, without a time limit.
    const isFolder = archiveStorageOf(path) === null
    const result: ProbeResult = isFolder
      ? await probeFolder(() => probeTileSet(root, path))
      : await this.#probeFile({ root, path, what: 'tile set' }, signal)
    if (result.state !== 'ok' || !result.probe.rowsAssumed || isVectorFormat(result.probe.format)) return result
    // Row order is found by comparing zooms, so one zoom does not suffice.
    if (isFolder && result.probe.minZoom === result.probe.maxZoom) return result
    return this.#withRowOrder(root, path, result.probe, signal)
  }

  /** Determines the row order by the images, which the child process decodes. If that crashes or takes too long, the result stays without it. */
  async #withRowOrder(root: string, path: string, probe: TileSetProbe, signal: AbortSignal): Promise<ProbeResult> {
    const { storage, extension, formats = null, rowsFromNorth, tileMatrixSet } = probe
    const rows = { storage, extension, formats, rowsFromNorth, tileMatrixSet }
    const answer = await this.#ask<NumberOrder | null>({ root, path, what: 'row order', rows }, signal)
    const order = answer?.state === 'ok' ? answer.probe : null
    if (order !== 'zyx' && order !== 'zyx_tms') return { state: 'ok', probe: withRowOrder(probe, order) }
    return probeFolder(() => probeTransposed(root, path, order === 'zyx' ? 'xyz' : 'tms'))
  }

  /** Probes a GeoPackage, with the errors of `probe`. */
  probeGeopackage(root: string, path: string, signal: AbortSignal): Promise<GeopackageProbeResult> {
    return this.#probeFile({ root, path, what: 'geopackage' }, signal)
  }

  /** Returns the names of the tile tables in a GeoPackage, with the errors of `probe`. */
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
      if (fileSystem === null) throw new Error('its file system does not respond')
      return { state: 'timeout' }
    }
    if (answer.state === 'failed') throw new Error(answer.message)
    return answer
  }

  /** Returns null if there is no result in time. */
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

async function probeFolder(look: () => Promise<TileSetProbe | null>): Promise<ProbeResult> {
  try {
    const probe = await look()
    return probe === null ? { state: 'empty' } : { state: 'ok', probe }
  } catch (error) {
    if (error instanceof BrokenArchiveError) return { state: 'broken', why: error.message }
    const confused = unreadable(error)
    if (confused !== null) return confused
    throw error
  }
}

/** Reason of a timeout, for operators. */
export const TIMED_OUT = `it could not be read within ${PROBE_LIMIT_MS / 1000} s`
