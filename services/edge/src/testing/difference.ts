import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG } from '../sync/catalog.js'
import { TILE_SAMPLING } from '../usage/tile-counts.js'
import { follow } from './follow.js'
import { EVERYWHERE, known, request, SECRET, SIGNED, TOKENS, WELL_KNOWN } from './hot-requests.js'
import { memoryReader } from './memory-reader.js'
import { bytesOf, type RawAnswer, RawClient, type RawRequest } from './raw-client.js'
import { READER, type RunningEdge, runEdge, takeCells, takeUsage } from './running-edge.js'
import { makePair, tlsEnv } from './tls-pair.js'

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-difference-'))

/** One edge answers hot tiles without JavaScript, the other answers all requests by JavaScript: a process has only one native tier. */
let quick: RunningEdge
let plain: RunningEdge
let quickly: RawClient
let plainly: RawClient

function write(relativePath: string, data: Uint8Array): void {
  const file = path.join(home, relativePath)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, data)
}

async function startBoth(isEncrypted: boolean): Promise<void> {
  const env = isEncrypted ? tlsEnv(makePair(home, 'edge')) : {}
  write('v1/0/0/0.png', randomBytes(5_000))
  write('v2/0/0/0.png', randomBytes(7_000))
  write('v1/1/0/0.png', randomBytes(60_000))
  write('v1/2/0/0.png', randomBytes(100_000))
  write('packed/0/0/0.pbf', gzipSync(Buffer.from(`\x1a${'layer '.repeat(3_000)}`)))
  const versions = ['v1', 'v2'].map((version) => storedVersion(version, { path: path.join(home, version) }))
  const packed = storedVersion('v1', { path: path.join(home, 'packed'), format: 'pbf', extension: 'pbf' })
  const state = { revision: 1, mark: 'mark 1', epoch: 'one' }
  const store = memoryReader({
    state: () => state,
    changes: () => ({ covered: true, changes: [], state }),
    basemaps: () => [
      storedBasemap('alps', versions, { sourcePath: home, defaultVersion: 'v1' }),
      storedBasemap('packed', [packed], { sourcePath: home }),
    ],
  })
  const start = async () => {
    const port = await freePort()
    const controlPlane = 'http://[::1]:1'
    const running = await runEdge({ port, catalog: EMPTY_CATALOG, dataDir: home, controlPlane, env })
    await follow(running, store)
    running.edge.signed.setKeys([{ secret: SECRET, expiresAt: null }])
    for (const [name, token] of Object.entries(TOKENS)) {
      if (name === 'unknown' || name === 'malformed') continue
      running.storedTokens.set(tokenDigest(token).toString('hex'), {
        ...READER,
        id: name,
        basemaps: new Set(name === 'alps' || name === 'packed' ? [name] : ['*']),
        scopes: new Set([name === 'slice' ? 'slice' : 'read']),
        expiresAtMs: name === 'expired' ? 1 : null,
        disabled: name === 'disabled',
      })
    }
    return { running, client: new RawClient(port, isEncrypted) }
  }
  ;({ running: quick, client: quickly } = await start())
  ;({ running: plain, client: plainly } = await start())
  expect([quick.edge.sender.tier, plain.edge.native.answers]).toEqual(['native', 0])
  const request: RawRequest = {
    method: 'GET',
    target: `${WELL_KNOWN[0]}?token=${TOKENS.all}`,
    headers: [['Host', 'x']],
  }
  const { lines } = await quickly.ask(request)
  const fieldOf = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ''
  Object.assign(known, { etag: fieldOf('ETag'), modified: fieldOf('Last-Modified') })
  expect(Object.values(known)).not.toContain('')
}

async function stopBoth(): Promise<void> {
  quickly.close()
  plainly.close()
  for (const { edge } of [quick, plain]) {
    edge.native.close()
    await Promise.all([edge.upstream.close(), edge.zips.close()])
  }
  fs.rmSync(home, { recursive: true, force: true })
}

/**
 * True if a field that must not be repeated has different values: the native tier refuses that before JavaScript sees it, with another
 * text.
 */
function isAmbiguous({ headers }: RawRequest): boolean {
  return ['authorization', 'x-access-token'].some((name) => {
    const values = headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value.trim())
    return new Set(values).size > 1
  })
}

/** Replaces the port, which addresses in responses contain. */
function comparable({ status, lines, body }: RawAnswer, { url }: RunningEdge): unknown {
  const text = body.toString('latin1').replaceAll(new URL(url).host, 'host')
  return {
    status,
    lines: lines
      .filter((line) => !line.startsWith('Content-Length: ') || text.length === body.length)
      // The tag of a document depends on its text.
      .map((line) => line.replace(/^(ETag: W\/).*/, '$1')),
    text,
  }
}

const natively: Record<string, number> = {}

const refusalsOf = ({ counters }: RunningEdge['edge']) => {
  counters.beforeReading()
  return { ...counters.authFailures }
}

/** Sends a request to the edge with a table; records the table's decision, and the grants that it left to JavaScript to refuse. */
async function askNoting(asked: RawRequest): Promise<RawAnswer> {
  const { edge } = quick
  const [answers, refusals] = [edge.native.answers, refusalsOf(edge)]
  const answer = await quickly.ask(asked)
  const after = refusalsOf(edge)
  const reason = Object.keys(after).find(
    (key) => after[key as keyof typeof after] > refusals[key as keyof typeof after],
  )
  const isPacked = answer.lines.includes('Content-Encoding: gzip')
  const decision = reason ?? (answer.status === 200 && isPacked ? 'gzip' : String(answer.status))
  const byTable = edge.native.answers > answers
  if (byTable || answer.status === 403) note(decision)
  if (byTable && (answer.status === 200 || answer.status === 304)) formsOf(asked, answer).forEach(note)
  return answer
}

const note = (what: string) => {
  natively[what] = (natively[what] ?? 0) + 1
}

const FORMS = [
  'HEAD',
  'other parameters',
  'two places',
  'a signed URL',
  'Basic',
  'a list of tags',
  'a date',
  'a newer date',
  'weights',
  'Range',
  'close',
]

/** Returns the forms of an answered request that a simpler request would have too. */
function formsOf({ method, target, headers }: RawRequest, { status }: RawAnswer): string[] {
  const value = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1] ?? ''
  const places = [value('authorization'), value('x-access-token'), /token=bmp/.exec(target)?.[0] ?? '']
  const isBasic = /^basic /i.test(value('authorization'))
  const hasDate = value('if-modified-since') !== '' && value('if-none-match') === ''
  const forms: Record<string, boolean> = {
    HEAD: method === 'HEAD',
    'other parameters': /[?&](v|a|style)=/.test(target),
    'two places': places.filter((place) => place !== '').length > 1,
    'a signed URL': /[?&]sig=/.test(target) && !target.includes('token=bmp'),
    Basic: isBasic,
    'a list of tags': value('if-none-match').includes(',') && status === 304,
    'a date': hasDate && status === 304,
    'a newer date': hasDate && status === 200,
    weights: value('accept-encoding').includes(';') && target.includes('packed'),
    Range: value('range') !== '',
    close: /close\b/i.test(value('connection')),
  }
  return FORMS.filter((form) => forms[form])
}

const KVP =
  'SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=alps&STYLE=default&FORMAT=image/png&TILEMATRIXSET=WebMercatorQuad'
const SUBJECTS = [
  ['a tile', WELL_KNOWN[0] as string],
  ['GetTile', `/wmts?${KVP}&TILEMATRIX=0&TILEROW=0&TILECOL=0`],
] as const

export interface Comparison {
  readonly isEncrypted: boolean
  /** Number of requests, which the seed draws. */
  readonly requests: number
  readonly seed: number
}

/** Defines all tests of a file, since a process has one native tier. */
export function compareDecisions({ isEncrypted, requests, seed }: Comparison): void {
  beforeAll(() => startBoth(isEncrypted))
  afterAll(stopBoth)
  test('hot tiles are answered without JavaScript exactly as with it, for any request', { timeout: 120_000 }, () =>
    askBoth(requests, seed),
  )
  test.each(SUBJECTS)(
    '%s opens to each credential only in the places of its kind, natively as by JavaScript',
    { timeout: 120_000 },
    (_, subject) => tryEverywhere(subject),
  )
}

async function askBoth(requests: number, seed: number): Promise<void> {
  console.log(`seed ${seed}`)
  takeUsage(quick)
  for (const edge of [quick, plain]) takeCells(edge)
  const property = fc.asyncProperty(request, async (asked) => {
    if (isAmbiguous(asked)) {
      expect((await quickly.ask(asked)).status).toBe(400)
      quickly.close()
      return
    }
    const words = bytesOf(asked).toString('latin1')
    expect(comparable(await askNoting(asked), quick), words).toEqual(comparable(await plainly.ask(asked), plain))
  })
  await fc.assert(property, { seed, numRuns: requests, endOnFailure: false })
  const decisions = ['200', 'gzip', '304', 'token_missing', 'token_malformed', 'token_unknown', 'resource_not_granted']
  console.log(natively)
  for (const decision of [...decisions, ...FORMS]) {
    expect(natively[decision] ?? 0, decision).toBeGreaterThan(requests / 1_000)
  }
  expect(plain.edge.native.answers).toBe(0)
  const usage = takeUsage(plain)
  expect(takeUsage(quick)).toEqual(usage)
  const kinds = ['token","id":"slice"', 'basemap","id":"alps"', 'version","id":"packed/v1"']
  for (const kind of kinds) expect(usage.find((row) => row.includes(kind))).toBeDefined()
  // Beyond the exact limit the two count different samples.
  if (requests > TILE_SAMPLING.exact) return
  const cells = takeCells(plain)
  expect(cells.length).toBeGreaterThan(1)
  expect(takeCells(quick)).toEqual(cells)
}

async function tryEverywhere(subject: string): Promise<void> {
  const asking = (asked: string, lines: RawRequest['headers']): RawRequest => ({
    method: 'GET',
    target: subject + (subject.includes('?') ? asked.replace('?', '&') : asked),
    headers: [['Host', 'x'], ...lines],
  })
  // Signatures are valid only for addresses of tiles, and the table must know them before they are tried elsewhere.
  for (const client of [quickly, plainly])
    for (const text of Object.values(SIGNED)) {
      for (let i = 0; i < 3; i++)
        await client.ask({
          method: 'GET',
          target: `${WELL_KNOWN[0]}?${text}`,
          headers: [['Host', 'x']],
        })
    }
  const opened: string[] = []
  for (const { asked, lines } of EVERYWHERE) {
    const one = asking(asked, lines)
    const answer = await quickly.ask(one)
    const words = bytesOf(one).toString('latin1')
    expect(comparable(answer, quick), words).toEqual(comparable(await plainly.ask(one), plain))
    if (answer.status === 200) opened.push(words)
  }
  const signs = opened.filter((words) => words.includes('sig='))
  expect(opened.length - signs.length).toBeGreaterThan(10)
  for (const words of signs) {
    expect(words.split('\r\n')[0], words).toContain('sig=')
    expect(words, words).not.toMatch(/^(authorization|x-access-token):.*sig=/im)
  }
}
