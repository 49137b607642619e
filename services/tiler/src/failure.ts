import { type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import { isDiskFull } from '@gateway/core/files/disk-space.js'

/**
 * The reason why a run cannot continue, for the submitter of the job. It is thrown instead of returned, because it must unwind
 * concurrent warps and encodings. `run.ts` catches it in one place and makes it the result line.
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

/** Returns the reason of any error. An unexpected one is named as such, without its stack. */
export function reasonOf(error: unknown): CodedMessage {
  if (error instanceof Failure) return error.coded
  if (isDiskFull(error)) return DISK_FULL
  return coded('slice_tool_failed', { words: error instanceof Error ? error.message : String(error) })
}

/** Quotes a path or other foreign text for a log line or a reason, with control characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
