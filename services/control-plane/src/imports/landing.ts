import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { SourceKind } from '@gateway/contracts/scan-source.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { readVectors } from '@gateway/store/vectors.js'
import { BrokenArchiveError } from '@gateway/tiles/broken-archive.js'
import { probeTileSet } from '@gateway/tiles/probe.js'
import type { TileSetProbe } from '@gateway/tiles/tile-set.js'
import { type ControlContext, commitAndPublish, edgesFollow } from '../context.js'
import { land, type PreparedLanding, prepareLanding } from '../deliveries/files/landing.js'
import { registerVersion } from '../scans/register-version.js'
import { runScans } from '../scans/run.js'
import { nameOf, versionRecord } from '../scans/version-record.js'
import { type Parcel, slotOf } from './parcel.js'
import { type Contents, unpackArchive } from './unpack.js'

/** The scan sources that hold what came in, by the kind of what they hold. */
const SOURCES = { basemap: 'imports', vector: 'imports-vectors' } as const

export type Landed = { readonly ok: true; readonly code: string } | Refusal

/** The directory of a source of imports, which is a scan source from then on. */
export async function importSource(ctx: ControlContext, kind: SourceKind): Promise<string> {
  const root = path.join(ctx.settings.dataDir, 'imports', `${kind}s`)
  await mkdir(root, { recursive: true })
  const source = { code: SOURCES[kind], kind, path: root, name: undefined, enabled: undefined }
  await ctx.sql.begin((tx) => upsertScanSource(tx, source))
  return root
}

/**
 * Unpacks an examined archive beside its place, looks whether it can be served, puts it in its place whole and into the catalog. `id` names
 * the import. Nothing that was there before is touched before the new one has been found good.
 */
export async function landParcel(
  ctx: ControlContext,
  parcel: Exclude<Parcel, { kind: 'test' }>,
  contents: Contents,
  spool: string,
  id: string,
): Promise<Landed> {
  if (parcel.kind === 'basemap') {
    const known = await readBasemap(ctx.sql, parcel.code)
    if (known !== null && known.sourceCode !== SOURCES.basemap) {
      return refuse('conflict', `this gateway has a basemap of that code in its scan source ${known.sourceCode}`)
    }
  }
  const root = await importSource(ctx, parcel.kind)
  const landing = await prepareLanding({ root, kind: contents.kind, place: contents.place }, id, 1)
  try {
    const unpacked = await unpackArchive(spool, (name) => slotOf(parcel, name), landing.stage.folder)
    if (!unpacked.ok) return unpacked
    return parcel.kind === 'basemap'
      ? await landBasemap(ctx, parcel, landing, unpacked.names)
      : await landVector(ctx, parcel.relativePath, landing, unpacked.names)
  } finally {
    await rm(landing.stage.folder, { recursive: true, force: true })
  }
}

async function landBasemap(
  ctx: ControlContext,
  { code, version, name }: Extract<Parcel, { kind: 'basemap' }>,
  landing: PreparedLanding,
  names: readonly string[],
): Promise<Landed> {
  const staged = landing.kind === 'folder' ? landing.stage.folder : path.join(landing.stage.folder, names[0] ?? '')
  const unfit = await problemOf(landing.root, staged)
  if (unfit !== null) return refuse('invalid_parameters', unfit)
  await land(landing, names)
  const place = path.join(landing.root, landing.place)
  // As a scan will find it, so that the next scan sees nothing new.
  const probe = (await probeTileSet(landing.root, place)) as TileSetProbe
  const basemap = {
    code,
    name: nameOf(probe) ?? (name?.trim() || code),
    tileBaseUrl: ctx.settings.tilePublicBaseUrl,
    sourceCode: SOURCES.basemap,
  }
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    return { result: null, changes: await registerVersion(tx, basemap, versionRecord(version, place, probe), false) }
  })
  await edgesFollow(ctx, revision)
  return { ok: true, code }
}

async function problemOf(root: string, staged: string): Promise<string | null> {
  try {
    return (await probeTileSet(root, staged)) === null ? 'the archive holds no tiles' : null
  } catch (error) {
    if (error instanceof BrokenArchiveError) return error.message
    throw error
  }
}

/** Another scan is waited for: it ends, and the sender has patience. */
const SCAN_RETRY_MS = 300

async function landVector(
  ctx: ControlContext,
  relativePath: string,
  landing: PreparedLanding,
  names: readonly string[],
): Promise<Landed> {
  if (!names.includes(path.basename(relativePath))) {
    return refuse('invalid_parameters', 'the archive lacks the file that its event names')
  }
  // The file that the catalog knows comes last: it completes the set.
  const own = path.basename(relativePath)
  await land(landing, [...names.filter((name) => name !== own), own])
  const source = { code: SOURCES.vector, kind: 'vector', path: landing.root } as const
  for (;;) {
    const run = await runScans(ctx, [source])
    if (run.ok) break
    if (run.code !== 'scan_running') return run
    await sleep(SCAN_RETRY_MS, undefined, { signal: ctx.shutdown })
  }
  const vector = (await readVectors(ctx.sql, null)).find(
    (one) => one.sourceCode === SOURCES.vector && one.relativePath === relativePath,
  )
  if (vector?.available) return { ok: true, code: vector.code }
  return refuse('invalid_parameters', 'the scan did not find a usable vector in what was sent')
}
