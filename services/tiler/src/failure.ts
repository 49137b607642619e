import { type CodedMessage, textOf } from '@gateway/contracts/messages.js'

/**
 * Why a run cannot go on, for the person who submitted the job. Thrown, not returned, because it must unwind
 * warps and encodings that run side by side; `run.ts` catches it in one place and makes it the result line.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  /** null: the reason has no code */
  readonly coded: CodedMessage | null

  constructor(reason: string | CodedMessage) {
    super(typeof reason === 'string' ? reason : textOf(reason))
    this.coded = typeof reason === 'string' ? null : reason
  }
}

export function fail(reason: string | CodedMessage): never {
  throw new Failure(reason)
}

export const DISK_FULL = 'the disk is full: there is not enough free space for the tiles or the scratch files'

/** Whether a system call was refused for want of space or quota. */
function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The reason for any error; an unexpected one is named as such, without its stack. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message
  if (isDiskFull(error)) return DISK_FULL
  return `internal error of the tiling tool: ${error instanceof Error ? error.message : String(error)}`
}

/** A path or other foreign text as it may appear in a log line or a reason: quoted, control characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
