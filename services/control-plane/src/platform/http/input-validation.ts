import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { checkInput } from '@gateway/contracts/input/input-problems.js'
import { fieldsAt } from '@gateway/contracts/input/schema-fields.js'
import { coded } from '@gateway/contracts/messages.js'
import { withoutTokens } from '@gateway/store/catalog/list-query.js'
import { z } from 'zod'
import type { App } from './app-type.js'
import { sendRefusal } from './refusal.js'

/** Invalid input. It is an error, since Fastify's parsers and validators refuse by throwing. */
export class InputError extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Parts of a request, by their names in messages. */
const PLACES: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
}

/** Validates every part of every request, so that all routes refuse unknown fields in the same words. */
export function registerInputValidation(app: App): void {
  app.setValidatorCompiler(({ schema, httpPart = '' }) => {
    const place = PLACES[httpPart] ?? 'request'
    const known = schema as unknown as z.core.$ZodType
    const prepared = preparation(known, httpPart)
    return (input: unknown) => {
      const checked = checkInput(known, prepared(input), place)
      return checked.ok
        ? { value: checked.value }
        : { error: new InputError(refuse('invalid_parameters', checked.problems)) }
    }
  })
  app.addHook('preValidation', async ({ body, routeOptions }, reply) => {
    const { readsOwnBody, takesForm } = routeOptions.config
    const takesBody = readsOwnBody || takesForm || (routeOptions.schema as { body?: unknown } | undefined)?.body
    if (takesBody || typeof body !== 'object' || body === null) return
    const [name] = Object.keys(body)
    if (name === undefined) return
    return sendRefusal(
      reply,
      refuse('invalid_parameters', [coded('input.no_body', { field: `body.${name.slice(0, 64)}` })]),
    )
  })
}

function preparation(schema: z.core.$ZodType, httpPart: string): (input: unknown) => unknown {
  if (httpPart === 'querystring') return withoutTokens
  if (httpPart !== 'body') return (input) => input
  const nullable = fieldsThatTakeNull(schema)
  // No body counts as one without fields: it is valid if no field is required, and otherwise the message names the missing fields.
  return (body) => withoutNulls(body ?? {}, nullable)
}

/** Maps each field of a body to whether null has a meaning for it. */
function fieldsThatTakeNull(schema: z.core.$ZodType): ReadonlyMap<string, boolean> {
  const fields = Object.entries(fieldsAt(schema, []))
  return new Map(fields.map(([name, field]) => [name, z.safeParse(field, null).success]))
}

/** Treats any other field that is null as omitted, since serializers of many languages send null for unset fields. */
function withoutNulls(body: unknown, nullable: ReadonlyMap<string, boolean>): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null || nullable.get(name) !== false),
  )
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** True if a path parameter can be an identifier. For any other text the store would raise an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
