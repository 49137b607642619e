import { Readable } from 'node:stream'
import { type Bounds, CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { FairLanes, type Release } from '@gateway/core/lanes/fair-lanes.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { HelperProcess } from '@gateway/core/processes/helper-process.js'
import { isListed, readBasemap, rootOf, type StoredBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import { basemapWithin } from '@gateway/store/catalog/within-area.js'
import type { ChangesTask } from '@gateway/tilesets/compare/changed-tiles.js'
import type { ComparedSet } from '@gateway/tilesets/compare/compare-sets.js'
import type { ControlContext } from '../../platform/context.js'
import { NO_SUCH_BASEMAP, NO_SUCH_VERSION } from '../../platform/http/refusal.js'
import { setOf } from '../compare/compare-versions.js'
import { copyHere } from '../local-copies.js'
import type { ChangesAnswer } from './changes-process.js'

/** The built file, even when the sources run (in tests). */
const CHANGES_PROCESS = new URL('../../../dist/catalog/changes/changes-process.js', import.meta.url)

/**
 * Maximum number of lists of changes that one control plane makes at the same time, each in a process, and half of them for one token: a slow reader
 * keeps its list for long.
 */
export const MAX_AT_ONCE = 4
/** Maximum seconds of one list, which is then aborted. This also ends the process of a reader that stalls. */
export const LIMIT_SECONDS = 900
const RETRY_SECONDS = 30

const TOO_MANY = {
  ...refuse('too_many_requests', coded('comparisons_full', { limit: MAX_AT_ONCE })),
  retryAfterSeconds: RETRY_SECONDS,
}
const OUTSIDE_AREA = refuse('outside_bounds', coded('token_outside'))
const FAILED = refuse('dependency_down', coded('tiles_not_readable'))

interface WantedChanges {
  readonly code: string
  readonly from: string
  readonly to: string
  /** area that the token may read; null: everywhere */
  readonly area: Bounds | null
}

interface Compared {
  readonly ok: true
  readonly basemap: StoredBasemap
  readonly left: StoredVersion
  readonly right: StoredVersion
}

/** Lists the tiles that differ between two versions, in a separate process, as fast as the reader takes them. */
export class VersionChanges {
  readonly #ctx: Pick<ControlContext, 'sql' | 'settings' | 'shutdown' | 'log'>
  readonly #lanes = new FairLanes(MAX_AT_ONCE, 0)

  constructor(ctx: Pick<ControlContext, 'sql' | 'settings' | 'shutdown' | 'log'>) {
    this.#ctx = ctx
  }

  /** Returns NDJSON. An abort of `gone` ends the process, and the stream with an error; so does a fault after the first line. */
  async stream(wanted: WantedChanges, gone: AbortSignal, caller: string): Promise<Readable | Refusal> {
    const found = await this.#find(wanted)
    if (!found.ok) return found
    const entered = this.#lanes.enter(caller)
    if (entered === null) return TOO_MANY
    const release = await entered
    const signal = AbortSignal.any([this.#ctx.shutdown, gone, AbortSignal.timeout(LIMIT_SECONDS * 1000)])
    const lines = this.#lines(found, wanted.area, signal, release)
    try {
      const first = await lines.next()
      if (first.done)
        return typeof first.value === 'string'
          ? refuse('conflict', coded('versions_not_compared', { reason: first.value }))
          : Readable.from([])
      return streamOf(first.value, lines, signal)
    } catch (error) {
      if (gone.aborted) throw error
      const { code, from, to } = wanted
      this.#ctx.log.warn({ err: error, basemap: code, from, to }, 'two versions could not be compared')
      return FAILED
    }
  }

  /** Returns the reason why the versions cannot be compared; null after all lines. */
  async *#lines(
    { basemap, left, right }: Compared,
    area: Bounds | null,
    signal: AbortSignal,
    release: Release,
  ): AsyncGenerator<Buffer, string | null> {
    const copies: { remove(): Promise<void> }[] = []
    const here = async (version: StoredVersion): Promise<ComparedSet> => {
      const set = setOf(version, rootOf(basemap, version))
      if (!isRemote(set.path)) return set
      const { settings } = this.#ctx
      const copied = await copyHere(settings, set.root, [set.path], settings.exportMaxBytes, signal)
      copies.push(copied)
      return { ...set, path: copied.files[0] as string, root: copied.folder }
    }
    const helper = new HelperProcess<ChangesTask, ChangesAnswer>(CHANGES_PROCESS, { writes: true })
    try {
      const { tileMatrixSet, tileMatrices = null } = left
      const task = { left: await here(left), right: await here(right), tileMatrixSet, tileMatrices, area }
      const output = helper.output()
      let answer: ChangesAnswer | null = null
      // The process ends with its result. Its earlier output can still be read.
      const answered = helper.ask(task, signal).then((given) => {
        answer = given
        helper.end()
      })
      const failed = answered.catch((error) => void output.destroy(error as Error))
      for await (const chunk of output) yield chunk as Buffer
      await Promise.all([answered, failed])
      return (answer as ChangesAnswer | null)?.refused ?? null
    } finally {
      release()
      helper.end()
      await Promise.all(copies.map((copied) => copied.remove()))
    }
  }

  async #find({ code, from, to, area }: WantedChanges): Promise<Compared | Refusal> {
    const basemap = code.includes('\0') ? null : await readBasemap(this.#ctx.sql, code)
    if (basemap === null || !isListed(basemap)) return NO_SUCH_BASEMAP
    if (basemapWithin(basemap, area) === null) return OUTSIDE_AREA
    const [left, right] = [from, to].map((label) => {
      const wanted = label === CURRENT_VERSION ? basemap.defaultVersion : label
      return basemap.versions.find((one) => one.version === wanted && one.available && !one.withdrawn)
    })
    if (left === undefined || right === undefined) return NO_SUCH_VERSION
    if (left.tileMatrixSet !== right.tileMatrixSet)
      return refuse(
        'invalid_parameters',
        coded('versions_grids_differ', { left: left.tileMatrixSet, right: right.tileMatrixSet }),
      )
    for (const { version, path, storage } of [left, right]) {
      if (storage === 'upstream') return refuse('conflict', coded('version_of_service', { version }))
      if (isRemote(path) && (storage === 'xyz' || storage === 'tms'))
        return refuse('conflict', coded('version_in_object_storage', { version }))
    }
    return { ok: true, basemap, left, right }
  }
}

/** Also ends the process if the reader disconnects before the stream begins. */
function streamOf(first: Buffer, lines: AsyncGenerator<Buffer, string | null>, signal: AbortSignal): Readable {
  const all = async function* () {
    yield first
    const refused = yield* lines
    if (refused !== null) throw new Error(refused)
  }
  const stream = Readable.from(all(), { objectMode: false })
  stream.once('close', () => void lines.return(null))
  const leave = () => void stream.destroy()
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return stream
}
