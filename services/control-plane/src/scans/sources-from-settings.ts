import { mkdir } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ScanSource, SourceKind } from '@gateway/contracts/scan-source.js'
import type { Settings } from '@gateway/settings/load.js'
import type { Sql } from '@gateway/store/connect.js'
import { readScanSources, upsertScanSource } from '@gateway/store/scan-sources.js'
import { reducedCode } from './vector-codes.js'

/** The code of the source that slicing writes into. */
export const LAYERS_SOURCE = 'layers'

interface Wanted {
  readonly kind: SourceKind
  readonly path: string
  readonly code: string
}

/**
 * Makes scan sources of BASEMAP_ROOTS, VECTOR_ROOTS and SLICE_OUTPUT_ROOT, and answers them. A directory that is a source already stays
 * the source that it is, whatever the order of the settings; a new one is named after its last segment.
 */
export async function sourcesFromSettings(sql: Sql, settings: Settings): Promise<ScanSource[]> {
  await mkdir(settings.sliceOutputRoot, { recursive: true })
  const answered: ScanSource[] = []
  for (const wanted of wantedSources(settings)) {
    const known = await readScanSources(sql)
    const same = known.find((source) => source.kind === wanted.kind && source.path === wanted.path)
    if (same !== undefined) {
      answered.push(same)
      continue
    }
    // The layers' source keeps its code when SLICE_OUTPUT_ROOT moves: its basemaps are the same layers.
    const code = wanted.code === LAYERS_SOURCE ? LAYERS_SOURCE : freeCode(wanted.code, known)
    await sql.begin((tx) => upsertScanSource(tx, { ...wanted, code, name: undefined, enabled: undefined }))
    answered.push(...(await readScanSources(sql, code)))
  }
  return answered
}

function wantedSources(settings: Settings): Wanted[] {
  const named = (kind: SourceKind) => (path: string) => ({ kind, path, code: reducedCode(basename(path)) })
  return [
    ...settings.basemapRoots.map(named('basemap')),
    ...settings.vectorRoots.map(named('vector')),
    { kind: 'basemap', path: settings.sliceOutputRoot, code: LAYERS_SOURCE },
  ]
}

function freeCode(code: string, known: readonly ScanSource[]): string {
  const used = new Set([LAYERS_SOURCE, ...known.map((source) => source.code)])
  if (!used.has(code)) return code
  for (let n = 2; ; n++) if (!used.has(`${code}-${n}`)) return `${code}-${n}`
}
