import { realpathSync, statSync } from 'node:fs'
import { CodedError, type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { noWarnings, type Warnings, warn } from './found.js'

/** A scan source during a walk, local or remote. */
export interface WalkedPlace {
  /** as configured; the paths of all found items begin with it */
  readonly root: string
  readonly warnings: Warnings
  /** reports progress */
  readonly progress: () => void
}

/** A local scan source during a walk. */
export interface WalkedSource extends WalkedPlace {
  /** real path of the root */
  readonly realRoot: string
  /** Throws if the root is no longer the directory of the walk's start: missing items may then be on an unmounted disk. */
  assertStillThere(): void
}

/** Throws if the root does not exist, is not a directory, or cannot be reached. */
export function openSource(root: string, progress: () => void): WalkedSource {
  const before = identityOf(root)
  const warnings = noWarnings()
  return {
    root,
    realRoot: realpathSync.native(root),
    warnings,
    progress,
    assertStillThere: () => {
      if (identityOf(root) !== before) throw new CodedError(coded('scan_root_replaced', { path: root }))
    },
  }
}

function identityOf(root: string): string {
  const stat = statSync(root, { bigint: true })
  if (!stat.isDirectory()) throw new CodedError(coded('scan_root_no_directory', { path: root }))
  return `${stat.dev}:${stat.ino}`
}

export function warnIn(source: Pick<WalkedPlace, 'warnings'>, said: CodedMessage): void {
  warn(source.warnings, said)
}
