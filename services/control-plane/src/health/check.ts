import type { HealthCheck } from '@gateway/contracts/health.js'
import { readBasemaps, setVersionsAvailable } from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { scannedSince, storeTime } from '@gateway/store/scan-sources.js'
import { readVectors, setVectorsAvailable } from '@gateway/store/vectors.js'
import { type ControlContext, commitAndPublish, edgesFollow } from '../context.js'
import { lookAtAll } from './look.js'
import { type Place, type Presence, placeOfVersion } from './place.js'

/** A version or vector, where it should be, and what was seen there. */
interface Checked {
  readonly kind: 'basemap' | 'vector'
  readonly code: string
  /** of a vector: empty */
  readonly version: string
  readonly available: boolean
  readonly sourceCode: string
  readonly place: Place
  readonly presence: Presence
}

/**
 * Looks whether every version and vector of the catalog is where it was found. What is gone becomes unavailable, what is there again
 * available; where the look itself fails (permission, a mount that hangs) it counts as missing and nothing is changed. Where a scan of
 * the same source runs or ran meanwhile, that knows better, and nothing is changed either.
 */
export async function checkHealth(ctx: ControlContext): Promise<HealthCheck> {
  const since = await storeTime(ctx.sql)
  const checked = await checkAll(ctx)
  const differing = checked.filter(
    ({ presence, available }) => presence !== 'unknown' && available !== (presence === 'there'),
  )
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    const scanned = await scannedSince(tx, since)
    const changed = differing.filter(({ sourceCode }) => !scanned.has(sourceCode))
    await write(tx, changed)
    return { result: null, changes: changesOf(changed) }
  })
  await edgesFollow(ctx, revision)
  const missing = checked.filter(({ presence }) => presence !== 'there')
  const count = (items: readonly Checked[], kind: Checked['kind']) => items.filter((item) => item.kind === kind).length
  return {
    checked_at: new Date(ctx.now()).toISOString(),
    versions_checked: count(checked, 'basemap'),
    versions_missing: count(missing, 'basemap'),
    vectors_checked: count(checked, 'vector'),
    vectors_missing: count(missing, 'vector'),
  }
}

async function checkAll(ctx: ControlContext): Promise<Checked[]> {
  const versions = (await readBasemaps(ctx.sql, null)).flatMap(({ code, sourceCode, sourcePath, versions }) =>
    versions.map(({ version, available, path, storage }) => {
      return {
        kind: 'basemap' as const,
        code,
        version,
        available,
        sourceCode,
        place: placeOfVersion(sourcePath, path, storage),
      }
    }),
  )
  const vectors = (await readVectors(ctx.sql, null)).map(({ code, available, sourceCode, sourcePath, path }) => {
    const place: Place = { root: sourcePath, path, is: 'file' }
    return { kind: 'vector' as const, code, version: '', available, sourceCode, place }
  })
  const items = [...versions, ...vectors]
  const presence = await lookAtAll(
    items.map((item) => item.place),
    ctx.shutdown,
  )
  return items.map((item, i) => ({ ...item, presence: presence[i] ?? 'unknown' }))
}

async function write(tx: Transaction, changed: readonly Checked[]): Promise<void> {
  for (const { kind, code, version, presence } of changed) {
    if (kind === 'basemap') await setVersionsAvailable(tx, code, [version], presence === 'there')
  }
  for (const presence of ['there', 'gone']) {
    const codes = changed.filter((item) => item.kind === 'vector' && item.presence === presence).map(({ code }) => code)
    if (codes.length > 0) await setVectorsAvailable(tx, codes, presence === 'there')
  }
}

function changesOf(changed: readonly Checked[]): NewChange[] {
  const of = (kind: Checked['kind']) => new Set(changed.filter((item) => item.kind === kind).map(({ code }) => code))
  return (['basemap', 'vector'] as const).flatMap((kind) => [...of(kind)].map((key) => ({ kind, key })))
}
