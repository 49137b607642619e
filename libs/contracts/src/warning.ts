import { z } from 'zod'
import { type CodedMessage, messageParamsSchema, textOf } from './messages.js'

/** A warning about input that is accepted but probably not intended. `code` is stable, and the text may be reworded. */
export const warningSchema = z
  .object({
    code: z.string().describe('stable identifier of the kind of warning'),
    message: z.string().describe('the warning in English, with the values that it concerns'),
    params: messageParamsSchema.optional().describe('the values in the message, by name'),
  })
  .describe('Warning')
export type Warning = z.infer<typeof warningSchema>

/** Builds a warning from the table of messages. */
export function warningOf(message: CodedMessage): Warning {
  return { code: message.code, message: textOf(message), params: message.params }
}

/** The field `warnings` of a response. It is absent without warnings. */
export const warningsField = {
  warnings: z
    .array(warningSchema)
    .optional()
    .describe('input that was accepted but is probably not intended; absent if nothing is'),
}

/** Adds `warnings` to a response body, or nothing if the list is empty. */
export function withWarnings<T extends object>(body: T, warnings: Warning[]): T & { warnings?: Warning[] } {
  return warnings.length === 0 ? body : { ...body, warnings }
}
