import { mkdir } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { saidOf } from '@gateway/contracts/messages.js'
import type { ScanSource, SourceKind } from '@gateway/contracts/scan-source.js'
import { isRemote, normalLocation, parseLocation } from '@gateway/core/object-storage/location.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { Sql } from '@gateway/store/connect.js'
import { readScanSources, upsertScanSource } from '@gateway/store/scan-sources.js'
import { firstFree, reducedCode } from '../register/codes.js'

/** Code of the source that slicing writes into. */
export const LAYERS_SOURCE = 'layers'

interface Wanted {
  readonly kind: SourceKind
  readonly path: string
}

/**
 * Registers SLICE_OUTPUT_ROOT, BASEMAP_ROOTS, VECTOR_ROOTS and STYLE_ROOTS as scan sources, and returns them. A directory that is already a source
 * stays that source, whatever the order of the settings. A new source is named after its last path segment. The source of layers is always
 * called `layers`, and follows SLICE_OUTPUT_ROOT if that changes, since its basemaps are the same layers.
 */
export async function sourcesFromSettings(sql: Sql, settings: Settings): Promise<ScanSource[]> {
  await mkdir(settings.sliceWorkRoot, { recursive: true })
  const answered = [await layersSource(sql, settings.sliceOutputRoot)]
  for (const wanted of wantedSources(settings)) {
    const known = await readScanSources(sql)
    const same = known.find((source) => source.kind === wanted.kind && source.path === wanted.path)
    const used = new Set([LAYERS_SOURCE, ...known.map(({ code }) => code)])
    if (same === undefined) {
      answered.push(await save(sql, firstFree(reducedCode(basename(wanted.path)), used), wanted))
    } else if (!answered.some((source) => source.code === same.code)) {
      answered.push(same)
    }
  }
  return answered
}

async function layersSource(sql: Sql, path: string): Promise<ScanSource> {
  const [known] = await readScanSources(sql, LAYERS_SOURCE)
  if (known !== undefined && known.kind !== 'basemap') {
    throw new Error(`the scan source "${LAYERS_SOURCE}" belongs to slicing and cannot hold anything but basemaps`)
  }
  return known?.path === path ? known : save(sql, LAYERS_SOURCE, { kind: 'basemap', path })
}

async function save(sql: Sql, code: string, wanted: Wanted): Promise<ScanSource> {
  await sql.begin(async (tx) => {
    await upsertScanSource(tx, { ...wanted, code, name: undefined, enabled: undefined })
    const by = { actor: 'system', address: '' }
    await insertAudit(tx, { ...by, action: 'scan-source.save', subject: code, detail: { ...wanted } })
  })
  const [source] = await readScanSources(sql, code)
  return source as ScanSource
}

function wantedSources(settings: Settings): Wanted[] {
  const of = (kind: SourceKind) => (path: string) => ({ kind, path })
  return [
    ...settings.basemapRoots.map(of('basemap')),
    ...settings.vectorRoots.map(of('vector')),
    ...settings.styleRoots.map(of('style')),
  ]
}

/** Returns the canonical form of a source's location. A refusal does not repeat the text, since it may hold credentials. */
export function placeOf(path: string): { readonly ok: true; readonly path: string } | Refusal {
  if (!isRemote(path)) return { ok: true, path: resolve(path) }
  const location = parseLocation(path)
  if (typeof location === 'string') return refuse('invalid_parameters', saidOf('body.path', location))
  return { ok: true, path: normalLocation(path) }
}
