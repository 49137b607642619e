import { createHash } from 'node:crypto'
import type { RunningCanary, StoredBasemap } from '@gateway/store/basemaps.js'

/** True if a token gets the new version. A hash of token and switch decides, so every process gives the same answer. A signed URL never gets it. */
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
