import { z } from 'zod'
import { fillTemplate, type MessageTemplate } from './message-template.js'
import { SCAN_MESSAGES } from './scan-messages.js'
import { SLICE_MESSAGES } from './slice-messages.js'

/**
 * The English text of every coded message, by its code. Codes and the names of parameters are stable; texts may be reworded. A language of
 * the console is a table of the same codes and parameters.
 */
export const MESSAGES = { ...SCAN_MESSAGES, ...SLICE_MESSAGES } as const satisfies Readonly<
  Record<string, MessageTemplate>
>
export type MessageCode = keyof typeof MESSAGES

export const messageParamsSchema = z.record(z.string(), z.union([z.string(), z.number()]))
export type MessageParams = Readonly<z.infer<typeof messageParamsSchema>>

/** A message as it is stored and sent between processes: its text can be made from it in any language. */
export type CodedMessage = {
  readonly code: MessageCode
  readonly params: MessageParams
}

/** The members of a stored message beside its English text; both null: the message has no code. */
export const messageFields = {
  message_code: z.string().nullable().describe('stable identifier of the kind of message; null: it has none'),
  message_params: messageParamsSchema.nullable().describe('the values in the message, by name'),
}

/** A message in the form that it is answered in. */
export interface StoredMessage {
  readonly message: string
  readonly message_code: string | null
  readonly message_params: MessageParams | null
}

export function storedMessage(message: string, made: CodedMessage | null = null): StoredMessage {
  return { message, message_code: made?.code ?? null, message_params: made?.params ?? null }
}

export function coded(code: MessageCode, params: MessageParams = {}): CodedMessage {
  return { code, params }
}

/** The English text of a message. */
export function textOf({ code, params }: CodedMessage): string {
  return fillTemplate(MESSAGES[code], params)
}

/** Whether a code is one of this version: a stored one may be of another. */
export function isMessageCode(code: string): code is MessageCode {
  return Object.hasOwn(MESSAGES, code)
}
