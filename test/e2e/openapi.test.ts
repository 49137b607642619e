import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ADDRESSES, type AddressForm } from '@gateway/contracts/addresses.js'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import Spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { beforeAll, expect, test } from 'vitest'
import { useMaps, useToken } from '../conformance/maps.js'
import { ADMIN_TOKEN } from '../harness/gateway.js'

const maps = useMaps()
const token = useToken(maps)
const execute = promisify(execFile)

interface Media {
  readonly schema?: object
  readonly example?: unknown
}
interface Operation {
  readonly operationId: string
  readonly security?: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: string | number }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}

let text: string
let operations: (Operation & { readonly path: string; readonly method: string })[]
let ajv: Ajv2020
beforeAll(async () => {
  text = await (await maps().get('/api/v1/openapi.json')).text()
  const document = JSON.parse(text)
  operations = Object.entries<Record<string, Operation>>({ ...document.paths, ...document.webhooks }).flatMap(
    ([path, item]) => Object.entries(item).map(([method, operation]) => ({ ...operation, path, method })),
  )
  ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'document')
})

/** Returns the errors of a value against a schema of the document. */
function errorsOf(schema: object, value: unknown): unknown {
  const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'))
  const validate = ajv.compile(own)
  return validate(value) ? null : validate.errors
}

test('spectral finds neither errors nor warnings in the OpenAPI document', async () => {
  const spectral = new Spectral.Spectral()
  // The type of spectral's own rule sets lacks a property that the type of a definition requires.
  spectral.setRuleset({ extends: [[rulesets.oas as unknown as RulesetDefinition, 'recommended']] })
  const found = await spectral.run(JSON.parse(text))
  expect(found.map(({ code, path, message }) => [code, path.join('.'), message])).toEqual([])
})

test('redocly finds neither errors nor warnings in the OpenAPI document', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const found = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('every example in the OpenAPI document is valid by its schema', () => {
  const examples = operations.flatMap(({ operationId, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values(body?.content ?? {}).flatMap(({ schema, example }) =>
        example === undefined ? [] : [{ operationId, schema: schema ?? {}, example }],
      ),
    ),
  )
  expect(examples.length).toBeGreaterThan(80)
  const wrong = examples.map(({ operationId, schema, example }) => [operationId, errorsOf(schema, example)])
  expect(wrong.filter(([, errors]) => errors !== null)).toEqual([])
})

/** Forms of addresses that the document describes in the text of another one. */
const IN_TEXTS = [
  '/vectors/{code},{other}/tilejson.json',
  '/vectors/{code},{other}/tiles/{z}/{x}/{y}.mvt',
  '/styles/{code}/{file}',
]

// Signing is a write of the control plane, by another scope.
test('the document describes every address of the read interface, and no other', () => {
  const forms = Object.values<readonly AddressForm[]>(ADDRESSES).flatMap((all) => all.map(({ form }) => form))
  const paths = [...new Set(operations.map(({ path }) => path))]
  expect(forms.filter((form) => !paths.includes(form))).toEqual(IN_TEXTS)
  const ofEdge = paths.filter(
    (path) =>
      path.startsWith('/') &&
      !/^\/(?:api\/v1\/(?!catalog)|api\/v1\/catalog\/signed-urls$|health|ready|metrics)/.test(path),
  )
  expect(ofEdge.filter((path) => !forms.includes(path))).toEqual([])
})

/** Operations whose examples have no effect outside this machine, and whose subjects exist in the catalog of `useMaps`. */
const HARMLESS = [
  ...['getHealth', 'getReadiness', 'getMetrics', 'getSystem', 'listBasemaps', 'getBasemap', 'listVectors'],
  ...['listAdminBasemaps', 'listAdminVectors', 'listScanSources', 'listTokens', 'issueToken', 'issuePreviewToken'],
  ...['listEdges', 'listAuditEntries', 'getDashboard', 'getTraffic', 'getSettings', 'listTargets', 'saveTarget'],
  ...['getUsage', 'getUsageCells'],
  ...['listPushRecords', 'listVectorPushRecords', 'listCallbackRecords', 'listSliceJobs', 'runHealthCheck'],
  ...['updateBasemap', 'getTileJson', 'callWmts', 'getWmtsCapabilities', 'getOgcLandingPage'],
  ...['getOgcConformance', 'listCollections', 'getCollection', 'listMapTilesets', 'getMapTileset', 'getMapTile'],
  ...['listTileMatrixSets', 'getTileMatrixSet', 'listTileMaps', 'getTileMap', 'getTile', 'getTmsTile'],
  'deleteTarget',
]

test.each(HARMLESS)('the example of %s runs, and its response is valid against the schema', async (operationId) => {
  const operation = operations.find((one) => one.operationId === operationId)
  if (operation === undefined) throw new Error(`the document has no operation ${operationId}`)
  const answer = await run(operation)
  const described = operation.responses[answer.status]?.content
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  expect([answer.status, Object.keys(described ?? {})]).toEqual([
    expect.toSatisfy(isSuccess),
    expect.arrayContaining([type]),
  ])
  if (type === 'application/json') expect(errorsOf(described?.[type]?.schema ?? {}, await answer.json())).toBeNull()
  else await answer.arrayBuffer()
  if (operationId === 'updateBasemap') await maps().gateway.admin.expect('/basemaps/world', RESTORE)
})

const RESTORE = { method: 'PATCH', body: { withdrawn: false } }
const isSuccess = (status: number) => status >= 200 && status < 300

async function run({ path, method, parameters = [], requestBody, security = [] }: (typeof operations)[number]) {
  const given = parameters.filter(({ example }) => example !== undefined)
  const filled = given.reduce((url, { name, example }) => url.replace(`{${name}}`, String(example)), path)
  const inQuery = given.filter((one) => one.in === 'query')
  const query = Object.fromEntries(inQuery.map(({ name, example }) => [name, String(example)]))
  const isAdmin = security.some((scheme) => 'adminBearer' in scheme)
  const example = requestBody?.content['application/json']?.example
  // Compiling schemas blocks the event loop for seconds. This lets fetch first notice idle connections that the edge closed: the first turn
  // may end without a look at the sockets, the second cannot.
  await setImmediate()
  await setImmediate()
  return fetch(`${maps().gateway.url}${filled}?${new URLSearchParams(query)}`, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${isAdmin ? ADMIN_TOKEN : token()}`,
      ...(example !== undefined && { 'content-type': 'application/json' }),
    },
    ...(example !== undefined && { body: JSON.stringify(example) }),
  })
}

/** Client code as an author would write it, compiled against the generated types, and run. */
const CLIENT = `import createClient from 'openapi-fetch'
import type { operations, paths } from './openapi-generated.js'

const [baseUrl = '', admin = '', reader = ''] = process.argv.slice(2)
const asAdmin = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + admin } })
const asReader = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + reader } })

const issued = await asAdmin.POST('/api/v1/admin/tokens', { body: { name: 'generated', basemap_codes: ['world'] } })
if (issued.data === undefined) throw new Error(issued.error.error)
const disabled = await asAdmin.POST('/api/v1/admin/tokens/{id}/disable', { params: { path: { id: issued.data.id } } })
const listed = await asReader.GET('/api/v1/catalog/basemaps')
const tileJson = await asReader.GET('/tiles/{code}/tilejson.json', { params: { path: { code: 'world' } } })
const tile = await asReader.GET('/tiles/{code}/{z}/{x}/{y}.{ext}', {
  params: { path: { code: 'world', z: 0, x: 0, y: 0, ext: 'png' } },
  parseAs: 'arrayBuffer',
})
type Job = operations['submitSliceJob']['responses'][202]['content']['application/json']
const callback: Job['callback_status'] = 'retrying'
// @ts-expect-error: not one of the states
const wrong: Job['callback_status'] = 'lost'
// @ts-expect-error: a token without a name
const unnamed: operations['issueToken']['requestBody']['content']['application/json'] = { scopes: ['read'] }
console.log(
  JSON.stringify({
    prefix: issued.data.prefix,
    disabled: typeof disabled.data?.disabled_at,
    codes: listed.data?.items.map(({ code }) => code),
    tiles: tileJson.data?.tiles.length,
    bytes: (tile.data?.byteLength ?? 0) > 0,
    kept: [callback, wrong, unnamed].length,
  }),
)
`

/** Below test/, where the packages that the sources import are found. */
const DIST = fileURLToPath(new URL('../dist/', import.meta.url))

async function compile(file: string, ...more: readonly string[]): Promise<void> {
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck']
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  await execute(process.execPath, [compiler, ...options, ...more, file]).catch(({ stdout }) => {
    throw new Error(`${file} does not compile: ${stdout}`)
  })
}

test('a client generated from the OpenAPI document compiles and works', async () => {
  const name = (extension: string) => join(DIST, `openapi-client.${extension}`)
  const types = join(DIST, 'openapi-generated.ts')
  await writeFile(types, astToString(await openapiTS(JSON.parse(text) as OpenAPI3)))
  await writeFile(name('ts'), CLIENT)
  try {
    await compile(name('ts'))
    const { stdout } = await execute(process.execPath, [name('js'), maps().gateway.url, ADMIN_TOKEN, token()])
    expect(JSON.parse(stdout)).toEqual({
      prefix: expect.stringMatching(/^bmp_/),
      disabled: 'string',
      codes: expect.arrayContaining(['world', 'streets']),
      tiles: 1,
      bytes: true,
      kept: 3,
    })
  } finally {
    await Promise.all(
      [types, types.replace('.ts', '.js'), name('ts'), name('js')].map((file) => rm(file, { force: true })),
    )
  }
})

test('an unsupported method returns 405 on every path, with the supported methods', async () => {
  for (const [path, item] of Object.entries<object>(JSON.parse(text).paths)) {
    const known = Object.keys(item).map((method) => method.toUpperCase())
    for (const method of ['TRACE', 'PROPFIND']) {
      const answer = await asked(method, path.replaceAll(/\{\w+\}/g, 'x'))
      expect([answer.statusCode, path]).toEqual([405, path])
      expect(answer.headers.allow?.split(', '), path).toEqual(expect.arrayContaining(known))
      // Checks Allow for POST, which lists it only if the path has it.
      expect(answer.headers.allow?.includes('POST'), path).toBe(known.includes('POST'))
    }
  }
})

/** Sends a request by `http`, since `fetch` sends no TRACE. */
function asked(method: string, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  return new Promise((resolve, reject) => {
    const request = http.request(maps().gateway.url + path, { method, headers }, (answer) => resolve(answer.resume()))
    request.on('error', reject).end()
  })
}

/** Names the members of `Routes` that differ from the document. Parameters of pages are the same for every list. */
const COMPARISON = `import type { Routes } from '@gateway/contracts/routes.js'
import type { paths } from './openapi-generated.js'

type Of<T, Name extends PropertyKey> = T extends { [N in Name]?: infer V } ? V : undefined
type Ok = 200 | 201 | 202
type Answer<O> = Of<Of<Of<Of<O, 'responses'>, keyof Of<O, 'responses'> & Ok>, 'content'>, 'application/json'>
type Query<O> = Omit<NonNullable<Of<Of<O, 'parameters'>, 'query'>>, 'sort'>
type Body<O> = NonNullable<Of<Of<Of<O, 'requestBody'>, 'content'>, 'application/json'>>
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
type SameKeys<A, B> = Same<keyof A, keyof B>
type IsPart<Whole, Part> = [Whole] extends [Part] ? true : false
type Wrong<P extends string, Console, Document> =
  | ('answer' extends keyof Console
      ? unknown extends Console['answer']
        ? never
        : (P extends \`\${string}/tilejson.json\` ? IsPart<Answer<Document>, Console['answer']> : Same<Answer<Document>, Console['answer']>) extends true
          ? never
          : 'answer'
      : never)
  | ('query' extends keyof Console
      ? [Same<Query<Document>, Omit<NonNullable<Console['query']>, 'sort'>>, SameKeys<Query<Document>, Omit<NonNullable<Console['query']>, 'sort'>>] extends [true, true]
        ? never
        : 'query'
      : Record<never, never> extends Query<Document> ? never : 'query')
  | ('body' extends keyof Console
      ? Console['body'] extends string ? never : Same<Body<Document>, Console['body']> extends true ? never : 'body'
      : never)
type Differences = {
  [P in keyof Routes]: {
    [M in keyof Routes[P]]: P extends keyof paths
      ? M extends keyof paths[P]
        ? \`\${M & string} \${P} \${Wrong<P, Routes[P][M], paths[P][M]>}\`
        : \`\${M & string} \${P} is missing\`
      : \`\${P} is missing\`
  }[keyof Routes[P]]
}[keyof Routes]
export const none: { [Name in Differences]: never } = {}
`

test('the routes of the console have the types of the OpenAPI document', async () => {
  const types = join(DIST, 'openapi-generated.ts')
  const comparison = join(DIST, 'openapi-comparison.ts')
  await writeFile(types, astToString(await openapiTS(JSON.parse(text) as OpenAPI3, { defaultNonNullable: false })))
  await writeFile(comparison, COMPARISON)
  try {
    await compile(comparison, '--noEmit')
  } finally {
    await Promise.all([types, comparison].map((file) => rm(file, { force: true })))
  }
})
