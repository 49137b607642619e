import { CHANGE_KINDS, type LogState } from '@gateway/contracts/change.js'
import { z } from 'zod'
import type { RevisionMessage } from './bus.js'

const messageSchema = z.object({
  revision: z.int().min(0),
  changes: z.array(z.object({ revision: z.int(), kind: z.enum(CHANGE_KINDS), key: z.string() })),
  mark: z.uuid().optional(),
  previousMark: z.uuid().optional(),
})

const stateSchema = z.object({ revision: z.int().min(0), mark: z.uuid() })

/** Returns null for text that is not a message of this system. It is ignored, since polling the change log finds any lost change. */
export function decodeMessage(text: string): RevisionMessage | null {
  return decode(messageSchema, text)
}

/** Like `decodeMessage`, for a state that a control plane attests. */
export function decodeState(text: string): LogState | null {
  return decode(stateSchema, text)
}

function decode<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    const parsed = schema.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** A Postgres notification holds less than 8,000 bytes. If the changes do not fit, only the revision is sent. */
const MAX_MESSAGE_BYTES = 7900
const MAX_CARRIED_CHANGES = 50

export function encodeMessage(message: RevisionMessage): string {
  const carried = message.changes.length > MAX_CARRIED_CHANGES ? [] : message.changes
  // Each change takes its marks from the message.
  const changes = carried.map(({ revision, kind, key }) => ({ revision, kind, key }))
  const text = JSON.stringify({ ...message, changes })
  return Buffer.byteLength(text) <= MAX_MESSAGE_BYTES ? text : JSON.stringify({ ...message, changes: [] })
}
