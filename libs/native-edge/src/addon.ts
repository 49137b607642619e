import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ColdSetsAddon } from './cold-tiles/cold-sets.js'
import type { ResponseTableAddon } from './hot-tiles/response-table.js'

/** Exports of native/hot_tiles/cached_file_addon.cc, which documents them. */
export interface CachedFileAddon {
  openCached(path: string, target: Uint8Array, facts: BigInt64Array): string | number
  readCached(fd: number, offset: number, target: Uint8Array): number
}

/** Exports of native/addon.cc, which documents them. */
export interface Addon extends ResponseTableAddon, ColdSetsAddon, CachedFileAddon {
  attach(
    binary: string,
    port: number,
    stallSeconds: number,
    onSettled: (id: number, outcome: number, sent: number) => void,
    idleSeconds: number,
    isEncrypted: boolean,
  ): string
  attachAlso(port: number): string
  measureCopyLimit(file: string): number
  setCopyLimit(bytes: number): void
  hasUnsent(): boolean
  connectionsWait(port: number): boolean
  detach(): void
  probe(stage: number): boolean
  mark(): void
  unmark(): boolean
  untilClose(): boolean
  start(fd: number, offset: number, length: number): number
}

const require = createRequire(import.meta.url)

/** Returns the addon, or the reason why it cannot be loaded. */
export function loadAddon(): Addon | string {
  try {
    const addon = require('../build/Release/native-edge.node') as Addon
    return isOlderThanSources()
      ? 'the addon is older than its sources: npm run install --workspace=@gateway/native-edge'
      : addon
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    return missing ? 'the addon was not built' : `the addon does not load: ${(error as Error).message}`
  }
}

/** False in a container image, which contains no sources. */
function isOlderThanSources(): boolean {
  if (!existsSync(new URL('../native/addon.cc', import.meta.url))) return false
  const { BUILT_FROM, digestOfSources } = require('../sources.cjs') as { BUILT_FROM: string; digestOfSources(): string }
  return !existsSync(BUILT_FROM) || readFileSync(BUILT_FROM, 'utf8') !== digestOfSources()
}
