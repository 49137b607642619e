import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type CodedMessage, coded, messageOfError, textOf } from '@gateway/contracts/messages.js'
import type { GeometryType } from '@gateway/contracts/vector.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { endExclusiveJob } from '@gateway/store/jobs.js'
import {
  type ClaimedBuild,
  finishBuild,
  postponeBuild,
  type SeenFacts,
  type VectorBuild,
} from '@gateway/store/vector-builds.js'
import type { BuildTask } from '@gateway/vectors/build.js'
import { MAX_NAME } from '@gateway/vectors/formats/limits.js'
import {
  DESCRIPTION_FILE,
  type IndexDescription,
  indexDescriptionSchema,
} from '@gateway/vectors/index-file/index-description.js'
import { type ConversionOutcome, runConversion } from '@gateway/vectors/query/conversion.js'
import { copyHere, pathsBeside } from '../catalog/local-copies.js'
import { recordEnd } from '../jobs/leases.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish } from '../platform/edges/commit.js'

/** Degrees by which an extent may be off before people are told: writers round theirs. */
const NOTABLE = 0.01

/**
 * Compares the facts that the head of a file states with those of its features, as its index has them. Returns the facts that differ, and a message
 * if a reader of the file would notice the difference. An extent across the antimeridian stays, since that of an index does not wrap.
 */
export function correctedFacts(
  stated: SeenFacts | null,
  { bounds, feature_count: count, geometry_type: type, fields, layers }: IndexDescription,
): { facts: Partial<SeenFacts>; note: CodedMessage | null } {
  if (stated === null) return { facts: {}, note: null }
  const off = stated.bounds === null || bounds === null ? null : distance(stated.bounds, bounds)
  const facts: Partial<SeenFacts> = {
    ...(stated.feature_count !== count && { feature_count: count }),
    ...(bounds !== null && (stated.bounds === null || (off ?? 0) > 0) && { bounds }),
    ...(type !== null && isOther(stated.geometry_type, type) && { geometry_type: type as GeometryType }),
    ...(layers.length === 1 && renamed(stated.fields, fields)),
  }
  if (stated.feature_count !== null && facts.feature_count !== undefined)
    return { facts, note: coded('vector_states_count', { expected: stated.feature_count, count }) }
  return { facts, note: off !== null && off > NOTABLE ? coded('vector_states_extent') : null }
}

/** Returns the fields with the names of the index, if an operator has set another encoding since the scan. */
function renamed(stated: SeenFacts['fields'], found: IndexDescription['fields']): Partial<SeenFacts> {
  if (stated === null || stated.length !== found.length) return {}
  const names = found.map(({ name }) => name.slice(0, MAX_NAME))
  if (stated.every(({ name }, i) => name === names[i])) return {}
  return { fields: stated.map((field, i) => ({ ...field, name: names[i] as string })) }
}

function distance(stated: Bounds, found: Bounds): number {
  return stated[0] > stated[2] ? 0 : Math.max(...stated.map((side, i) => Math.abs(side - (found[i] as number))))
}

/** Single parts and several parts are one kind for the head of many formats. `Geometry` covers all. */
function isOther(stated: string | null, found: string): boolean {
  const kind = (name: string) => name.replace('Multi', '')
  return stated === null || (stated !== 'Geometry' && stated !== 'MultiPatch' && kind(stated) !== kind(found))
}

/** Delays in seconds after which a build is repeated whose builder was killed, for instance because memory was short. */
const RETRY_SECONDS = [10, 60, 300]

const MEGABYTE = 1024 * 1024

/**
 * Builds a claimed vector and records the outcome, in the same transaction as the change for the edges. Aborts the build and records nothing if
 * the lease is lost, because the vector has new content or another process holds the lease, or if this process stops.
 */
export async function runBuild(ctx: ControlContext, claimed: ClaimedBuild, held: AbortSignal): Promise<void> {
  const { sql, log, settings } = ctx
  const { code, revision, lease } = claimed
  const parent = join(settings.vectorBuildRoot, code)
  const folder = join(parent, String(revision))
  // A killed builder leaves its output behind.
  const own = `.${revision}-${lease.id}.tmp`
  const work = join(parent, own)
  let end: { build: VectorBuild; facts: Partial<SeenFacts> } | { failed: CodedMessage }
  try {
    await mkdir(parent, { recursive: true })
    for (const name of await readdir(parent)) {
      if (name.endsWith('.tmp')) await rm(join(parent, name), { recursive: true, force: true })
    }
    await mkdir(work, { recursive: true })
    const built = await build(ctx, claimed, work, held)
    held.throwIfAborted()
    const delay = RETRY_SECONDS[claimed.crashes]
    if (!built.made && built.why === 'ended' && delay !== undefined) {
      log.info({ vector: code, reason: built.message, seconds: delay }, 'a vector build is repeated')
      return await recordEnd(log, held, () => sql.begin((tx) => postponeBuild(tx, lease, claimed, delay)))
    }
    if (built.made) {
      const description = indexDescriptionSchema.parse(JSON.parse(await readFile(join(work, DESCRIPTION_FILE), 'utf8')))
      const { bounds, damaged } = description
      const { facts, note } = correctedFacts(claimed.stated, description)
      // May exist from an earlier try for this revision, which was never announced to an edge.
      const final = `${folder}-${lease.id}`
      await rename(work, final)
      const { tiles } = built
      end = {
        build: {
          folder: final,
          minZoom: tiles?.minZoom ?? null,
          maxZoom: tiles?.maxZoom ?? null,
          bounds,
          leftOut: tiles?.leftOut ?? {},
          vectorLayers: tiles?.vectorLayers ?? [],
          ...(damaged !== undefined ? { note: noteOf(damaged) } : note !== null && { note }),
          builtAt: new Date(ctx.now()).toISOString(),
        },
        facts,
      }
    } else end = { failed: reasonOf(built, claimed.crashes + 1) }
  } catch (error) {
    if (held.aborted) {
      if (held.reason === 'stopped') await endExclusiveJob(sql, lease)
      return
    }
    end = { failed: isDiskFull(error) ? coded('vector_disk_full') : messageOfError(error) }
  } finally {
    await rm(work, { recursive: true, force: true }).catch(() => {})
    // Nothing is left of a vector without builds.
    await rmdir(parent).catch(() => {})
  }
  const outcome = end
  await recordEnd(log, held, () =>
    commitAndPublish(ctx, async (tx) => {
      const isOurs = await finishBuild(tx, lease, claimed, outcome)
      return { result: isOurs, changes: isOurs ? [{ kind: 'vector', key: code }] : [] }
    }),
  )
  if ('failed' in end) log.info({ vector: code, reason: textOf(end.failed) }, 'vector tiles could not be built')
  else log.info({ vector: code, revision, zooms: [end.build.minZoom, end.build.maxZoom] }, 'vector tiles are built')
}

function noteOf({ count, examples }: NonNullable<IndexDescription['damaged']>): CodedMessage {
  return coded('vector_left_out', { count, features: examples.join(', ') })
}

async function build(
  ctx: ControlContext,
  claimed: ClaimedBuild,
  output: string,
  signal: AbortSignal,
): Promise<ConversionOutcome> {
  const { settings } = ctx
  const { code, name, kind, size, fingerprint, path, sourcePath, encoding, crs, minZoom, maxZoom, fields } = claimed
  const converting = { sourceBytes: size, folder: output, signal }
  const limits = {
    memoryMb: Math.floor(settings.vectorBuildMemory / MEGABYTE),
  }
  const task = {
    kind,
    encoding,
    code,
    name,
    crs,
    output,
    limits,
    minZoom,
    maxZoom,
    fields,
  }
  const run = (of: Pick<BuildTask, 'source' | 'fingerprint'>) =>
    runConversion({ what: 'build', task: { ...task, ...of } }, converting)
  if (!isRemote(path)) return run({ fingerprint, source: { root: sourcePath, path } })
  const paths = kind === 'shapefile' ? await shapefileParts(ctx, claimed, signal) : [path]
  const copies = await copyHere(settings, sourcePath, paths, settings.exportMaxBytes, signal)
  try {
    return await run({ fingerprint: null, source: { root: copies.folder, path: copies.files[0] as string } })
  } finally {
    await copies.remove()
  }
}

/** Returns the .shp first. */
async function shapefileParts({ settings }: ControlContext, { path, sourcePath }: ClaimedBuild, signal: AbortSignal) {
  const stem = basename(path).slice(0, -4).toLowerCase()
  const isPart = (name: string) => /\.(?:shx|dbf|prj|cpg)$/i.test(name) && name.slice(0, -4).toLowerCase() === stem
  const folder = path.slice(0, path.lastIndexOf('/'))
  return [path, ...(await pathsBeside(settings, sourcePath, folder, isPart, signal))]
}

function reasonOf({ why, said }: Extract<ConversionOutcome, { made: false }>, count: number): CodedMessage {
  if (why === 'ended') return coded('vector_builder_ended', { count, words: String(said.params.words) })
  return why === 'no_space' && said.code !== 'vector_limit_disk' ? coded('vector_disk_full') : said
}
