import { z } from 'zod'
import { fillTemplate, type MessageTemplate } from './message-template.js'
import { REFUSAL_MESSAGES } from './refusal-messages.js'
import { REQUEST_MESSAGES } from './request-messages.js'
import { SCAN_MESSAGES } from './scan-messages.js'
import { SENTENCE_MESSAGES } from './sentence-messages.js'
import { SLICE_MESSAGES } from './slice-messages.js'

/**
 * The English text of every coded message, by its code. Codes and the names of parameters are stable; texts may be reworded. A language of
 * the console is a table of the same codes and parameters.
 */
export const MESSAGES = {
  ...SCAN_MESSAGES,
  ...SLICE_MESSAGES,
  ...REQUEST_MESSAGES,
  ...REFUSAL_MESSAGES,
  ...SENTENCE_MESSAGES,
} as const satisfies Readonly<Record<string, MessageTemplate>>
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
  return fillTemplate(MESSAGES[code], params, MESSAGES)
}

/** Several messages, in their order. */
export function textOfAll(messages: readonly CodedMessage[]): string {
  return messages.map(textOf).join('; ')
}

export type SentenceCode = keyof typeof SENTENCE_MESSAGES

/** The English of a clause, for a place that carries texts only, such as an issue of zod. */
export function sentence(code: SentenceCode): string {
  return SENTENCE_MESSAGES[code]
}

const SENTENCE_CODES: ReadonlyMap<string, string> = new Map(
  Object.entries(SENTENCE_MESSAGES).map(([code, text]) => [text, code]),
)

/** The code of what `sentence` returned; another text stays as it is. A parameter `{@name}` takes both. */
export function codeOfSentence(text: string): string {
  return SENTENCE_CODES.get(text) ?? text
}

/** A clause about a field of a request. */
export function saidOf(field: string, clause: string): CodedMessage {
  return coded('input.said', { field, sentence: codeOfSentence(clause) })
}

/** Whether a code is one of this version: a stored one may be of another. */
export function isMessageCode(code: string): code is MessageCode {
  return Object.hasOwn(MESSAGES, code)
}
