import { z } from 'zod'
import { fillTemplate, type MessageTemplate } from './message-template.js'
import { cleanJson } from './storable-text.js'
import { DELIVERY_MESSAGES } from './texts/delivery-messages.js'
import { EDGE_MESSAGES } from './texts/edge-messages.js'
import { REFUSAL_MESSAGES } from './texts/refusal-messages.js'
import { REQUEST_MESSAGES } from './texts/request-messages.js'
import { SCAN_MESSAGES } from './texts/scan-messages.js'
import { SENTENCE_MESSAGES } from './texts/sentence-messages.js'
import { SLICE_MESSAGES } from './texts/slice-messages.js'
import { QUERY_MESSAGES, VECTOR_MESSAGES } from './texts/vector-messages.js'

/**
 * The English text of every coded message, by its code. Codes and names of parameters are stable, and texts may be reworded. A language of
 * the console is a table with the same codes and parameters.
 */
export const MESSAGES = {
  ...SCAN_MESSAGES,
  ...SLICE_MESSAGES,
  ...DELIVERY_MESSAGES,
  ...EDGE_MESSAGES,
  ...QUERY_MESSAGES,
  ...REQUEST_MESSAGES,
  ...REFUSAL_MESSAGES,
  ...SENTENCE_MESSAGES,
  ...VECTOR_MESSAGES,
} as const satisfies Readonly<Record<string, MessageTemplate>>
export type MessageCode = keyof typeof MESSAGES

export const messageParamsSchema = z.record(z.string(), z.union([z.string(), z.number()]))
export type MessageParams = Readonly<z.infer<typeof messageParamsSchema>>

/** A message in the form that is stored and sent between processes. Its text can be built in any language. */
export type CodedMessage = {
  readonly code: MessageCode
  readonly params: MessageParams
}

/** The fields of a stored message next to its English text; both are null for a message without a code. */
export const messageFields = {
  message_code: z.string().nullable().describe('stable identifier of the kind of message; null: it has none'),
  message_params: messageParamsSchema.nullable().describe('the values in the message, by name'),
}

/** Returns the stored fields for a message and its code. */
export function codeFields(made: CodedMessage | null): Pick<StoredMessage, 'message_code' | 'message_params'> {
  return { message_code: made?.code ?? null, message_params: made?.params ?? null }
}

/** A message in the form of responses. */
export interface StoredMessage {
  readonly message: string
  readonly message_code: string | null
  readonly message_params: MessageParams | null
}

export function storedMessage(message: string, made: CodedMessage | null = null): StoredMessage {
  return { message, ...codeFields(made) }
}

/** Returns a message that Postgres can store: parameters quote the content of foreign files. */
export function coded(code: MessageCode, params: MessageParams = {}): CodedMessage {
  return { code, params: cleanJson(params) }
}

/** Returns the English text of a message. */
export function textOf({ code, params }: CodedMessage): string {
  return fillTemplate(MESSAGES[code], params, MESSAGES)
}

/** Returns the English text of several messages, in their order. */
export function textOfAll(messages: readonly CodedMessage[]): string {
  return messages.map(textOf).join('; ')
}

export type SentenceCode = keyof typeof SENTENCE_MESSAGES

/** Returns the English text of a clause, for places that carry only texts, such as an issue of zod. */
export function sentence(code: SentenceCode): string {
  return SENTENCE_MESSAGES[code]
}

const SENTENCE_CODES: ReadonlyMap<string, string> = new Map(
  Object.entries(SENTENCE_MESSAGES).map(([code, text]) => [text, code]),
)

/** Returns the code of a text that `sentence` returned; other text stays unchanged. A parameter `{@name}` accepts both. */
export function codeOfSentence(text: string): string {
  return SENTENCE_CODES.get(text) ?? text
}

/** Builds a clause about a field of a request. */
export function saidOf(field: string, clause: string): CodedMessage {
  return coded('input.said', { field, sentence: codeOfSentence(clause) })
}

/** An error whose message has a code. Code that stores the message stores its code too. */
export class CodedError extends Error {
  override readonly name: string = 'CodedError'
  readonly said: CodedMessage

  constructor(said: CodedMessage, options?: ErrorOptions) {
    super(textOf(said), options)
    this.said = said
  }
}

const OF_THE_SYSTEM: Readonly<Record<string, MessageCode>> = {
  ENOSPC: 'system_disk_full',
  EDQUOT: 'system_disk_full',
  EACCES: 'system_permission',
  EPERM: 'system_permission',
  ENOENT: 'system_not_there',
}

/** Maximum characters of a library's own text in a stored message. */
const MAX_WORDS = 2000

/** Returns the message of any error. For an error of a library or the system, its text is a parameter. */
export function messageOfError(error: unknown): CodedMessage {
  if (error instanceof CodedError) return error.said
  const words = (error instanceof Error ? error.message : String(error)).slice(0, MAX_WORDS)
  const known = CODES_OF_TEXTS.get(words)
  if (known !== undefined) return coded(known)
  // A child process sends only the message of an error, which begins with its code.
  const name = /^(E[A-Z0-9]{1,20}):/.exec(words)?.[1] ?? ''
  return coded(OF_THE_SYSTEM[name] ?? 'system_error', { words })
}

/** Texts without parameters, which errors of this project's libraries carry. */
const CODES_OF_TEXTS: ReadonlyMap<string, MessageCode> = new Map(
  Object.entries(MESSAGES).flatMap(([code, text]) =>
    typeof text === 'string' && !text.includes('{') ? [[text, code as MessageCode] as const] : [],
  ),
)

/** True if this version knows a code; a stored code may be from another version. */
export function isMessageCode(code: string): code is MessageCode {
  return Object.hasOwn(MESSAGES, code)
}
