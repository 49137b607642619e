import { realpathSync, statSync } from 'node:fs'
import { CodedError, type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { noWarnings, type Warnings, warn } from './found.js'

/** A scan source while it is walked, wherever it is. */
export interface WalkedPlace {
  /** as it was configured: the paths of what is found begin with it */
  readonly root: string
  readonly warnings: Warnings
  /** reports progress */
  readonly progress: () => void
}

/** A scan source on a disk while it is walked. */
export interface WalkedSource extends WalkedPlace {
  /** where the root leads */
  readonly realRoot: string
  /** Throws where the root is not the directory any more that the walk began with: what "was not found" then may be an unmounted disk. */
  assertStillThere(): void
}

/** Throws where the root is not there, is no directory, or cannot be reached. */
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
