import { access } from 'node:fs/promises'
import type { HealthCheck } from '@gateway/contracts/health.js'
import { readBasemaps, setVersionsAvailable } from '@gateway/store/basemaps.js'
import { readVectors, setVectorsAvailable } from '@gateway/store/vectors.js'
import { type ControlContext, commitAndPublish } from '../context.js'

/** A path on a mount that hangs must not hang the check. */
const PATH_TIMEOUT_MS = 5000
/** Enough to hide the latency of a network mount; each look occupies a thread of libuv's pool. */
const AT_ONCE = 16

type Presence = 'there' | 'gone' | 'unknown'

/**
 * Looks whether every version and vector of the catalog is where it was found. What is gone becomes unavailable, what is there again
 * available; where the look itself fails (permission, a mount that hangs) it counts as missing and nothing is changed.
 */
export async function checkHealth(ctx: ControlContext): Promise<HealthCheck> {
  const versions = (await readBasemaps(ctx.sql, null)).flatMap((basemap) =>
    basemap.versions.map(({ version, path, available }) => ({ code: basemap.code, version, path, available })),
  )
  const vectors = await readVectors(ctx.sql, null)
  const paths = [...versions, ...vectors].map((item) => item.path)
  const presence = await lookAtAll(paths)
  const ofVersion = versions.map((version, i) => ({ ...version, presence: presence[i] as Presence }))
  const ofVector = vectors.map((vector, i) => ({ ...vector, presence: presence[versions.length + i] as Presence }))
  const differs = (item: { available: boolean; presence: Presence }) =>
    item.presence !== 'unknown' && item.available !== (item.presence === 'there')
  const changedVersions = ofVersion.filter(differs)
  const changedVectors = ofVector.filter(differs)
  await commitAndPublish(ctx, async (tx) => {
    for (const { code, version, presence } of changedVersions) {
      await setVersionsAvailable(tx, code, [version], presence === 'there')
    }
    for (const available of [true, false]) {
      const codes = changedVectors.filter((v) => (v.presence === 'there') === available).map((v) => v.code)
      if (codes.length > 0) await setVectorsAvailable(tx, codes, available)
    }
    const basemapCodes = new Set(changedVersions.map((version) => version.code))
    return {
      result: null,
      changes: [
        ...[...basemapCodes].map((key) => ({ kind: 'basemap' as const, key })),
        ...changedVectors.map(({ code }) => ({ kind: 'vector' as const, key: code })),
      ],
    }
  })
  return {
    checked_at: new Date(ctx.now()).toISOString(),
    versions_checked: ofVersion.length,
    versions_missing: ofVersion.filter((version) => version.presence !== 'there').length,
    vectors_checked: ofVector.length,
    vectors_missing: ofVector.filter((vector) => vector.presence !== 'there').length,
  }
}

async function lookAtAll(paths: readonly string[]): Promise<Presence[]> {
  const presence: Presence[] = []
  const queue = paths.entries()
  const worker = async () => {
    for (const [i, path] of queue) presence[i] = await lookAt(path)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return presence
}

async function lookAt(path: string): Promise<Presence> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Presence>((resolve) => {
    timer = setTimeout(() => resolve('unknown'), PATH_TIMEOUT_MS)
  })
  const look = access(path).then(
    (): Presence => 'there',
    (error: NodeJS.ErrnoException): Presence =>
      error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'gone' : 'unknown',
  )
  try {
    return await Promise.race([look, timeout])
  } finally {
    clearTimeout(timer)
  }
}
