import { type HealthCheck, healthCheckSchema } from '@gateway/contracts/health.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { readNewestDetail } from '@gateway/store/audit.js'
import { isOffered, readBasemaps, rootOf, setVersionsAvailable } from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Queryable, Transaction } from '@gateway/store/connect.js'
import { scannedSince, storeTime } from '@gateway/store/scan-sources.js'
import { readVectors, setVectorsAvailable } from '@gateway/store/vectors.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish, edgesFollow } from '../../platform/edges/commit.js'
import { checkFiles } from './check-files.js'
import { checkObjects } from './check-objects.js'
import { type FileState, type Place, placeOfVersion } from './place.js'

/** A version or vector, with its expected place and the state of its files. */
interface Checked extends FileState {
  readonly kind: 'basemap' | 'vector'
  readonly code: string
  /** empty for a vector */
  readonly version: string
  readonly available: boolean
  readonly sourceCode: string
  readonly place: Place
}

/** Maximum number of missing items that are named in the log and in the audit. The counts include all. */
const MAX_NAMED = 100

export interface CheckedHealth {
  readonly result: HealthCheck
  /** missing items, each with the reason */
  readonly missing: readonly Pick<Checked, 'kind' | 'code' | 'version' | 'why'>[]
}

/**
 * Checks whether every version and vector of the catalog is still at its place and can be read: for an archive its directory and a tile, for
 * a folder a tile, for a vector its head. Items that are gone or unusable become unavailable, and items that are back become available. Items that
 * cannot be read now (permissions, a mount that hangs) count as missing and stay unchanged. A concurrent scan of the same source takes
 * precedence. Withdrawn items, and those of disabled sources, are not checked.
 */
export async function checkHealth(ctx: ControlContext): Promise<CheckedHealth> {
  const since = await storeTime(ctx.sql)
  const checked = await checkAll(ctx)
  const differing = checked.filter(
    ({ presence, available }) => presence !== 'unknown' && available !== (presence === 'there'),
  )
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    const scanned = await scannedSince(tx, since)
    return {
      result: null,
      changes: await write(
        tx,
        differing.filter(({ sourceCode }) => !scanned.has(sourceCode)),
      ),
    }
  })
  await edgesFollow(ctx, revision)
  const missing = checked.filter(({ presence }) => presence !== 'there')
  const named = missing.slice(0, MAX_NAMED).map(({ kind, code, version, why }) => ({ kind, code, version, why }))
  if (named.length > 0) ctx.log.warn({ missing: named, total: missing.length }, 'the health check found files missing')
  const count = (items: readonly Checked[], kind: Checked['kind']) => items.filter((item) => item.kind === kind).length
  return {
    result: {
      checked_at: new Date(ctx.now()).toISOString(),
      versions_checked: count(checked, 'basemap'),
      versions_missing: count(missing, 'basemap'),
      vectors_checked: count(checked, 'vector'),
      vectors_missing: count(missing, 'vector'),
    },
    missing: named,
  }
}

async function checkAll(ctx: ControlContext): Promise<Checked[]> {
  const basemaps = (await readBasemaps(ctx.sql, null)).filter(isOffered)
  const versions = basemaps.flatMap((basemap) => {
    const { code, sourceCode, versions } = basemap
    return (
      versions
        // A service is looked at by its scans and requests.
        .filter(({ withdrawn, storage }) => !withdrawn && storage !== 'upstream')
        .map((one) => {
          const { version, available, path, storage } = one
          const place = placeOfVersion(rootOf(basemap, one), path, storage)
          return { kind: 'basemap' as const, code, version, available, sourceCode, place }
        })
    )
  })
  const vectors = (await readVectors(ctx.sql, null))
    .filter(isOffered)
    .flatMap(({ code, kind, available, sourceCode, sourcePath, path }) => {
      // A database is looked at by its scans and requests.
      if (kind === 'postgis' || kind === 'postgis-function') return []
      const place: Place = { root: sourcePath, path, is: kind }
      return [{ kind: 'vector' as const, code, version: '', available, sourceCode, place }]
    })
  const items = [...versions, ...vectors]
  const places = items.map(({ place }) => place)
  const states = await checkPlaces(ctx, places)
  return items.map((item, i) => ({ ...item, ...(states[i] as FileState) }))
}

/** Returns results in the order of the places. */
async function checkPlaces({ settings, shutdown }: ControlContext, places: readonly Place[]): Promise<FileState[]> {
  const isElsewhere = ({ root }: Place) => isRemote(root)
  const [files, objects] = await Promise.all([
    checkFiles(
      places.filter((place) => !isElsewhere(place)),
      shutdown,
    ),
    checkObjects(places.filter(isElsewhere), settings, shutdown),
  ])
  return places.map((place) => (isElsewhere(place) ? objects : files).shift() as FileState)
}

async function write(tx: Transaction, changed: readonly Checked[]): Promise<NewChange[]> {
  const versions = changed.filter(({ kind }) => kind === 'basemap')
  for (const { code, version, presence } of versions) {
    await setVersionsAvailable(tx, code, [version], presence === 'there')
  }
  const vectors = changed.filter(({ kind }) => kind === 'vector')
  for (const presence of ['there', 'gone']) {
    const codes = vectors.filter((vector) => vector.presence === presence).map(({ code }) => code)
    if (codes.length > 0) await setVectorsAvailable(tx, codes, presence === 'there')
  }
  return [
    ...[...new Set(versions.map(({ code }) => code))].map((key) => ({ kind: 'basemap' as const, key })),
    ...vectors.map(({ code: key }) => ({ kind: 'vector' as const, key })),
  ]
}

/** Action of the audit entries that hold results of health checks. The last result is read from there. */
export const HEALTH_CHECK = 'health.check'

/** Returns the result of the last health check, or null. */
export async function readLastHealthCheck(sql: Queryable): Promise<HealthCheck | null> {
  return healthCheckSchema.safeParse(await readNewestDetail(sql, HEALTH_CHECK)).data ?? null
}
