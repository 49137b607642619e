import { type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'

/**
 * Why a run cannot go on, for the person who submitted the job. Thrown, not returned, because it must unwind
 * warps and encodings that run side by side; `run.ts` catches it in one place and makes it the result line.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly coded: CodedMessage

  constructor(reason: CodedMessage) {
    super(textOf(reason))
    this.coded = reason
  }
}

export function fail(reason: CodedMessage): never {
  throw new Failure(reason)
}

export const DISK_FULL = coded('slice_disk_full')

/** Whether a system call was refused for want of space or quota. */
function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The reason for any error; an unexpected one is named as such, without its stack. */
export function reasonOf(error: unknown): CodedMessage {
  if (error instanceof Failure) return error.coded
  if (isDiskFull(error)) return DISK_FULL
  return coded('slice_tool_failed', { words: error instanceof Error ? error.message : String(error) })
}

/** A path or other foreign text as it may appear in a log line or a reason: quoted, control characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
