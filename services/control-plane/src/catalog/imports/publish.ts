import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { readVectors } from '@gateway/store/vectors.js'
import { geopackagePlace, pathOfTable } from '@gateway/tilesets/geopackage/place.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish, edgesFollow } from '../../platform/edges/commit.js'
import { land, landForNow, type PreparedLanding, prepareLanding } from '../../platform/files/landing.js'
import type { ProbeResult } from '../probe/probe-result.js'
import { Prober, TIMED_OUT } from '../probe/prober.js'
import { registerVersion } from '../register/register-version.js'
import { nameOf, versionRecord } from '../register/version-record.js'
import { acceptScanned } from './accept-scanned.js'
import { type Contents, unpackArchive } from './unpack.js'
import type { Slot, Upload } from './upload.js'

/** The scan sources of imports, by kind of resource. */
const SOURCES = { basemap: 'imports', vector: 'imports-vectors' } as const

export type Published =
  | { readonly ok: true; readonly code: string; readonly warnings: readonly CodedMessage[] }
  | Refusal

/** The files of an upload, before they are at their place. */
export interface Material {
  readonly ok: true
  readonly kind: Slot['kind']
  readonly place: string
  /** puts them into a new folder; returns their names, relative to it */
  stage(folder: string): Promise<{ readonly ok: true; readonly names: readonly string[] } | Refusal>
}

/** The entries of an examined archive. */
export function archiveMaterial(
  spool: string,
  { kind, place }: Contents,
  slot: Parameters<typeof unpackArchive>[1],
): Material {
  return { ok: true, kind, place, stage: (folder) => unpackArchive(spool, slot, folder) }
}

/** Returns the directory of a source of imports, and registers it as a scan source. */
async function importSource(ctx: ControlContext, kind: keyof typeof SOURCES): Promise<string> {
  const root = path.join(ctx.settings.dataDir, 'imports', `${kind}s`)
  await mkdir(root, { recursive: true, mode: 0o700 })
  const source = { code: SOURCES[kind], kind, path: root, name: undefined, enabled: undefined }
  await ctx.sql.begin((tx) => upsertScanSource(tx, source))
  return root
}

/**
 * Stages files next to their place, checks that they can be served, moves them there and registers them in the catalog. An existing
 * version is replaced only after that check. `id` names the import.
 */
export async function publishUpload(
  ctx: ControlContext,
  upload: Exclude<Upload, { kind: 'test' }>,
  material: Material,
  id: string,
): Promise<Published> {
  if (upload.kind === 'basemap') {
    const known = await readBasemap(ctx.sql, upload.code)
    if (known !== null && known.sourceCode !== SOURCES.basemap) {
      return refuse('conflict', coded('import_code_taken', { source: known.sourceCode }))
    }
  }
  const root = await importSource(ctx, upload.kind)
  const landing = await prepareLanding({ root, kind: material.kind, place: material.place }, id, 1)
  try {
    const staged = await material.stage(landing.stage.folder)
    if (!staged.ok) return staged
    return upload.kind === 'basemap'
      ? await landBasemap(ctx, upload, landing, staged.names)
      : await landVector(ctx, upload.relativePath, landing, staged.names)
  } finally {
    await rm(landing.stage.folder, { recursive: true, force: true })
  }
}

async function landBasemap(
  ctx: ControlContext,
  { code, version, name }: Extract<Upload, { kind: 'basemap' }>,
  landing: PreparedLanding,
  names: readonly string[],
): Promise<Published> {
  const staged = landing.kind === 'folder' ? landing.stage.folder : path.join(landing.stage.folder, names[0] ?? '')
  let place = path.join(landing.root, landing.place)
  const prober = new Prober()
  let probe: TileSetProbe
  try {
    const fit = await prober.probe(landing.root, staged, ctx.shutdown)
    if (fit.state !== 'ok') return refuse('invalid_parameters', coded('import_not_usable', { reason: describe(fit) }))
    await land(landing, names)
    // Probed as in a scan, so that the next scan finds no change.
    const published = await prober.probe(landing.root, place, ctx.shutdown)
    if (published.state === 'ok' && geopackagePlace(place) !== null)
      place = await tableIn(prober, landing.root, place, ctx.shutdown)
    if (published.state !== 'ok') throw new Error(`the imported files do not exist any more: ${describe(published)}`)
    probe = published.probe
  } finally {
    prober.end()
  }
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
  return { ok: true, code, warnings: [] }
}

/** Returns the path of the only table of tiles in a GeoPackage, in the form of a scan. */
async function tableIn(prober: Prober, root: string, file: string, signal: AbortSignal): Promise<string> {
  const listed = await prober.tileTables(root, file, signal)
  const [table] = listed.state === 'ok' ? listed.probe : []
  if (table === undefined) throw new Error('the imported files do not exist any more')
  return pathOfTable(file, table)
}

function describe(result: Exclude<ProbeResult, { state: 'ok' }>): string {
  switch (result.state) {
    case 'broken':
    case 'unreadable':
      return result.why
    case 'empty':
      return 'the archive holds no tiles'
    case 'busy':
      return 'another program has locked the archive'
    case 'timeout':
      return `the archive cannot be served: ${TIMED_OUT}`
  }
}

async function landVector(
  ctx: ControlContext,
  relativePath: string,
  landing: PreparedLanding,
  names: readonly string[],
): Promise<Published> {
  if (!names.includes(path.basename(relativePath))) {
    return refuse('invalid_parameters', coded('import_lacks_file'))
  }
  // The file that the catalog knows comes last, since it completes the set.
  const own = path.basename(relativePath)
  const placed = await landForNow(landing, [...names.filter((name) => name !== own), own])
  const source = { code: SOURCES.vector, kind: 'vector', path: landing.root } as const
  const find = async () => {
    const vector = (await readVectors(ctx.sql, null)).find(
      (one) => one.sourceCode === SOURCES.vector && one.relativePath === relativePath,
    )
    return vector?.available === true ? vector : null
  }
  const scanned = await acceptScanned(ctx, source, placed, { prefix: relativePath, find, unusable: 'import_no_vector' })
  return scanned.ok ? { ok: true, code: scanned.found.code, warnings: scanned.warnings } : scanned
}
