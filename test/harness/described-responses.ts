import { afterAll, beforeAll, expect } from 'vitest'
import type { Gateway } from './gateway.js'

/** Members of an OpenAPI document that are compared. */
interface Described {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}
interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Readonly<Record<string, Described>> }>>>>
}

/** A response, as far as it is compared. */
interface Recorded {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly type: string
  /** body of a refusal in JSON */
  readonly refusal?: Promise<unknown>
}

/** Parts of an address that may contain slashes. */
const LONG_PARTS = /\{(?:relative_path|file)\}/
const BODILESS: ReadonlySet<number> = new Set([204, 304])

/** Records the responses that a file's tests get by `fetch`, and compares them with the OpenAPI document after the last one. */
export function compareWithDocument(gateway: () => Gateway): void {
  const recorded: Recorded[] = []
  const plainFetch = globalThis.fetch
  beforeAll(() => {
    globalThis.fetch = async (input, init) => {
      const answer = await plainFetch(input, init)
      const { url } = gateway()
      if (typeof input === 'string' && input.startsWith(`${url}/`))
        recorded.push(note(new URL(input).pathname, (init?.method ?? 'GET').toUpperCase(), answer))
      return answer
    }
  })
  afterAll(async () => {
    globalThis.fetch = plainFetch
    const document = await (await fetch(`${gateway().url}/api/v1/openapi.json`)).json()
    expect(
      await differences(document as Document, recorded),
      'responses that differ from the OpenAPI document',
    ).toEqual([])
  })
}

function note(path: string, method: string, answer: Response): Recorded {
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const isRefusal = answer.status >= 400 && type === 'application/json' && method !== 'HEAD'
  const refusal = isRefusal ? answer.clone().json() : undefined
  return { method, path, status: answer.status, type, ...(refusal !== undefined && { refusal }) }
}

/** Returns a line for each kind of response that the document does not describe. */
export async function differences(document: Document, recorded: readonly Recorded[]): Promise<string[]> {
  const templates = Object.keys(document.paths).map((template) => ({ template, pattern: patternOf(template) }))
  // The template with the longest literal text is the closest one.
  templates.sort((a, b) => literal(b.template) - literal(a.template))
  const found = new Set<string>()
  for (const { method, path, status, type, refusal } of recorded) {
    const template = templates.find(({ pattern }) => pattern.test(path))?.template
    const item = template === undefined ? undefined : document.paths[template]
    const operation = item?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
    // Another test asks every path by other methods.
    if (template === undefined || operation === undefined) continue
    const line = `${method} ${template}: ${status} ${type}`
    const described = resolve<Described>(document, operation.responses[status])
    if (described === undefined) {
      found.add(`${line}: the status is not described`)
      continue
    }
    if (method === 'HEAD' || BODILESS.has(status) || type === '') continue
    const contents = Object.entries(described.content ?? {})
    const content = contents.find(([name]) => name.split(';')[0] === type)?.[1]
    if (content === undefined) found.add(`${line}: described is ${contents.map(([name]) => name)}`)
    else if (refusal !== undefined) {
      const schema = resolve<Schema>(document, content.schema)
      const body = (await refusal) as Record<string, unknown>
      const absent = (schema?.required ?? []).filter((name) => !(name in body))
      if (absent.length > 0) found.add(`${line}: ${absent} is missing`)
    }
  }
  return [...found].sort()
}

function patternOf(template: string): RegExp {
  const parts = template.split(/(\{\w+\})/)
  const source = parts.map((part) =>
    LONG_PARTS.test(part) ? '.+' : part.startsWith('{') ? '[^/]+' : part.replace(/[.@]/g, '\\$&'),
  )
  return new RegExp(`^${source.join('')}$`)
}

function literal(template: string): number {
  return template.replaceAll(/\{\w+\}/g, '').length
}

function resolve<T extends { readonly $ref?: string }>(document: object, one: T | undefined): T | undefined {
  if (one?.$ref === undefined) return one
  const path = one.$ref.replace(/^#\//, '').split('/')
  return path.reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document) as T
}
