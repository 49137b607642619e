import { createHash } from 'node:crypto'
import type { RunningCanary, StoredBasemap } from '@gateway/store/basemaps.js'

/** Whether a token has the new version: by a hash of both, so that it has the same one in every process, throughout. A signed address never has. */
export function isReached({ id, percent }: RunningCanary, tokenId: string): boolean {
  if (tokenId === '') return false
  const hash = createHash('sha256').update(`${id} ${tokenId}`).digest().readUInt32BE(0)
  return hash < (percent / 100) * 2 ** 32
}

/** A basemap as a token has it: with the new default if a canary reaches the token. */
export function basemapFor(stored: StoredBasemap, tokenId: string): StoredBasemap {
  const canary = stored.canary ?? null
  return canary !== null && isReached(canary, tokenId) ? { ...stored, defaultVersion: canary.version } : stored
}
