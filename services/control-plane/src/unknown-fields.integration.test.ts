import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from './testing/test-app.js'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>
    >
  }
}

const UNKNOWN = 'zzqqy'
const WRITES = ['post', 'put', 'patch', 'delete'] as const

let app: TestApp
let token: string
beforeAll(async () => {
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
  const payload = { name: 'all', scopes: ['read', 'slice', 'sign'], basemap_codes: ['*'], vector_codes: ['*'] }
  token = (await app.admin({ method: 'POST', url: '/api/v1/admin/tokens', payload })).json().token
})
afterAll(() => app.close())

/** Returns the control plane's own operations by method and path: the document contains the edge's too. */
function operations() {
  const { paths = {} } = app.app.swagger() as { paths?: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, item]) =>
    WRITES.flatMap((method) => {
      const operation = item[method]
      return operation === undefined || !path.startsWith('/api/') ? [] : [{ path, method, operation }]
    }),
  )
}

const jsonOf = ({ operation }: { operation: Operation }) => operation.requestBody?.content['application/json']

async function send({ path, method }: { path: string; method: (typeof WRITES)[number] }, payload: object) {
  const authorization = path.startsWith('/api/v1/admin/') ? undefined : `Bearer ${token}`
  const url = path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')
  const headers = authorization === undefined ? {} : { authorization }
  const method_ = method.toUpperCase() as 'POST'
  const answer = await app.admin({ method: method_, url, payload, headers })
  return { status: answer.statusCode, error: answer.json().error as string, code: answer.headers['x-refusal'] }
}

/** Yields each object within a value, with its path. */
function objectsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([name, one]) => objectsIn(one, [...path, name]))
  return Array.isArray(value) ? inner : [path, ...inner]
}

function withUnknown(value: unknown, path: readonly string[]): object {
  const copy = structuredClone(value) as Record<string, unknown>
  let at: Record<string, unknown> = copy
  for (const name of path) at = at[name] as Record<string, unknown>
  at[UNKNOWN] = 1
  return copy
}

test('every body of the OpenAPI document refuses an unknown field, at every depth, and names it', async () => {
  // An imported style is a document of the MapLibre specification, which has its own rules for unknown fields.
  const withBodies = operations().filter((one) => jsonOf(one) !== undefined && !one.path.endsWith('/styles/import'))
  expect(withBodies.length).toBeGreaterThan(15)
  for (const one of withBodies) {
    const { example, examples } = jsonOf(one) ?? {}
    const bodies = example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example]
    for (const body of bodies.length > 0 ? bodies : [{}]) {
      for (const path of objectsIn(body)) {
        const { status, error, code } = await send(one, withUnknown(body, path))
        const field = ['body', ...path, UNKNOWN].join('.')
        expect([one.method, one.path, status, code]).toEqual([one.method, one.path, 400, 'invalid_parameters'])
        expect(error, one.path).toContain(`${field}: unknown field`)
      }
    }
  }
})

test('every object in a request body is documented to have no other fields', () => {
  const { components = {} } = app.app.swagger() as { components?: { schemas?: Record<string, Schema> } }
  const open: string[] = []
  const look = (schema: Schema | undefined, where: string): void => {
    if (schema === undefined) return
    if (schema.$ref !== undefined) look(components.schemas?.[schema.$ref.split('/').at(-1) as string], where)
    if (schema.properties !== undefined && schema.additionalProperties !== false) open.push(where)
    for (const [name, one] of Object.entries(schema.properties ?? {})) look(one, `${where}.${name}`)
    for (const one of [schema.anyOf, schema.oneOf, schema.allOf, schema.prefixItems].flatMap((list) => list ?? []))
      look(one, where)
    look(schema.items, `${where}[]`)
  }
  for (const one of operations()) look(jsonOf(one)?.schema, `${one.method} ${one.path}`)
  expect(open).toEqual([])
})

test('a request without a body refuses fields in one', async () => {
  const without = operations().filter(({ operation }) => operation.requestBody === undefined)
  expect(without.length).toBeGreaterThan(15)
  for (const one of without) {
    const { status, error } = await send(one, { [UNKNOWN]: 1 })
    expect([one.method, one.path, status, error]).toEqual([
      one.method,
      one.path,
      400,
      `body.${UNKNOWN}: unknown field, since this request takes no fields`,
    ])
  }
})

test('a null field counts as omitted if null has no meaning, and an unknown field is refused even then', async () => {
  const tokens = { path: '/api/v1/admin/tokens', method: 'post' } as const
  const payload = { name: 'nulls', scopes: null, rate_limit: null, expires_at: null }
  expect((await app.admin({ method: 'POST', url: tokens.path, payload })).json()).toMatchObject({
    scopes: ['read'],
    rate_limit: null,
  })
  expect(await send(tokens, { name: 'x', scope: null })).toMatchObject({
    status: 400,
    error: 'body.scope: unknown field; did you mean scopes?',
  })
})
