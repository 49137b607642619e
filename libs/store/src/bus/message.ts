import { CHANGE_KINDS } from '@gateway/contracts/change.js'
import { z } from 'zod'
import type { RevisionMessage } from './bus.js'

const messageSchema = z.object({
  revision: z.int().min(0),
  changes: z.array(z.object({ revision: z.int(), kind: z.enum(CHANGE_KINDS), key: z.string() })),
  mark: z.uuid().optional(),
  previousMark: z.uuid().optional(),
})

/** null: not a message of this system, to be ignored; polling the change log finds what it may have announced. */
export function decodeMessage(text: string): RevisionMessage | null {
  try {
    const parsed = messageSchema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** A Postgres notification holds less than 8,000 bytes; more changes than fit travel as a revision alone. */
const MAX_MESSAGE_BYTES = 7900
const MAX_CARRIED_CHANGES = 50

export function encodeMessage(message: RevisionMessage): string {
  const carried = message.changes.length > MAX_CARRIED_CHANGES ? [] : message.changes
  // The marks of each change are the message's own.
  const changes = carried.map(({ revision, kind, key }) => ({ revision, kind, key }))
  const text = JSON.stringify({ ...message, changes })
  return Buffer.byteLength(text) <= MAX_MESSAGE_BYTES ? text : JSON.stringify({ ...message, changes: [] })
}
