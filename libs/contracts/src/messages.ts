import { z } from 'zod'
import { DELIVERY_MESSAGES } from './delivery-messages.js'
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
  ...DELIVERY_MESSAGES,
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

/** The members for a message and its code, as they lie in the store. */
export function codeFields(made: CodedMessage | null): Pick<StoredMessage, 'message_code' | 'message_params'> {
  return { message_code: made?.code ?? null, message_params: made?.params ?? null }
}

/** A message in the form that it is answered in. */
export interface StoredMessage {
  readonly message: string
  readonly message_code: string | null
  readonly message_params: MessageParams | null
}

export function storedMessage(message: string, made: CodedMessage | null = null): StoredMessage {
  return { message, ...codeFields(made) }
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

/** An error whose message has a code: who stores the message stores the code with it. */
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

/** Limit: characters of a library's own words in a stored message. */
const MAX_WORDS = 2000

/** The message of any error. One that this service did not write has the words of the library or the system as its parameter. */
export function messageOfError(error: unknown): CodedMessage {
  if (error instanceof CodedError) return error.said
  const words = (error instanceof Error ? error.message : String(error)).slice(0, MAX_WORDS)
  const known = CODES_OF_TEXTS.get(words)
  if (known !== undefined) return coded(known)
  // A child process sends no more of an error than its message, which begins with the code.
  const name = /^(E[A-Z0-9]{1,20}):/.exec(words)?.[1] ?? ''
  return coded(OF_THE_SYSTEM[name] ?? 'system_error', { words })
}

/** Texts without parameters, which some errors carry from libraries of this service. */
const CODES_OF_TEXTS: ReadonlyMap<string, MessageCode> = new Map(
  Object.entries(MESSAGES).flatMap(([code, text]) =>
    typeof text === 'string' && !text.includes('{') ? [[text, code as MessageCode] as const] : [],
  ),
)

/** Whether a code is one of this version: a stored one may be of another. */
export function isMessageCode(code: string): code is MessageCode {
  return Object.hasOwn(MESSAGES, code)
}
