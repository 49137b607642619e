import { rm } from 'node:fs/promises'
import { coded } from '@gateway/contracts/messages.js'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import {
  CredentialsMissing,
  ObjectMissing,
  ObjectRefused,
  ObjectReplaced,
  ObjectStoreTrouble,
} from '@gateway/core/object-storage/errors.js'
import { parseLocation } from '@gateway/core/object-storage/location.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import { asScanned, readBasemaps } from '@gateway/store/basemaps.js'
import { readKnownFiles } from '@gateway/store/vectors.js'
import type { ControlContext } from '../../../platform/context.js'
import { scratchFolder } from '../scratch-folder.js'
import { noWarnings } from '../walk/found.js'
import { WalkError } from '../walk/walk.js'
import type { Found } from '../walk/walk-process.js'
import type { RemotePlace } from './remote-place.js'
import { type KnownVersions, walkRemoteBasemaps } from './walk-remote-basemaps.js'
import { walkRemoteVectors } from './walk-remote-vectors.js'

/**
 * `walk` for a source in object storage or behind HTTP, within this process, which only waits for responses. Rejects with WalkError for problems
 * that an operator can read, or with the signal's reason. The caller holds the scan lock.
 * @param onProgress called with the number of listed folders and read objects
 */
export async function walkRemote(
  ctx: Pick<ControlContext, 'sql' | 'settings' | 'now'>,
  source: Pick<ScanSource, 'code' | 'kind' | 'path'>,
  signal: AbortSignal,
  onProgress: (steps: number) => void,
): Promise<Found> {
  const { path: root, kind, code } = source
  const location = parseLocation(root)
  const store = openObjectStore(root, ctx.settings)
  const scratch = await scratchFolder(ctx)
  let steps = 0
  const progress = () => onProgress(++steps)
  const canBeListed = typeof location !== 'string' && location.kind === 's3'
  const walkOnce = async (): Promise<Found> => {
    const warnings = noWarnings()
    const place: RemotePlace = { root, store, canBeListed, signal, scratch, warnings, progress }
    if (kind === 'basemap') {
      const found = await walkRemoteBasemaps(place, await knownVersions(ctx, code))
      return { kind, found, steps }
    }
    const found = await walkRemoteVectors(place, await readKnownFiles(ctx.sql, code))
    return { kind: 'vector', found, steps }
  }
  try {
    return await walkOnce().catch((error: Error) => {
      // An object that is replaced during the walk is read again.
      if (error instanceof ObjectReplaced || error.cause instanceof ObjectReplaced) return walkOnce()
      throw error
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw asWalkError(error, root)
  } finally {
    await store.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

async function knownVersions({ sql }: Pick<ControlContext, 'sql'>, code: string): Promise<KnownVersions> {
  const own = (await readBasemaps(sql, null)).filter(({ sourceCode }) => sourceCode === code)
  return new Map(own.flatMap(({ versions }) => versions.map((version) => [version.path, asScanned(version)])))
}

const EXPECTED = [ObjectMissing, ObjectRefused, ObjectReplaced, ObjectStoreTrouble, WalkError]

function asWalkError(error: unknown, root: string): unknown {
  if (error instanceof WalkError) return error
  const { message, cause } = error as Error
  if (error instanceof CredentialsMissing || cause instanceof CredentialsMissing)
    return new WalkError(coded('scan_no_credentials', { path: root }))
  if (EXPECTED.some((kind) => error instanceof kind || cause instanceof kind)) {
    return new WalkError(
      coded('scan_storage', {
        path: root,
        words: message.startsWith(`${root}: `) ? message.slice(root.length + 2) : message,
      }),
    )
  }
  return error
}
