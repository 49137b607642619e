import http from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { crowdCatalog } from '../harness/fixtures/crowd.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { SteadyLoad } from '../harness/steady-load.js'
import { useGateway } from '../harness/use-gateway.js'

const BASEMAPS = 3_000
const BURST = 250
const CAPABILITIES = '/wmts?SERVICE=WMTS&REQUEST=GetCapabilities'

const gateway = useGateway({ edgeWorkers: 2 }, async (started) => {
  await makeTileFolder(join(started.home, 'basemaps/world/v1'), { maxZoom: 1 })
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'basemaps'))
  await crowdCatalog(started, 'world', BASEMAPS)
})

interface Asked {
  readonly status: number
  readonly bytes: number
  readonly retryAfter: string | undefined
  readonly body: string
}

/** Uses a new connection for each request, so that a burst reaches both processes at once. */
function ask(address: string, headers: Record<string, string>): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const request = http.get(`${gateway().url}${address}`, { agent: false, headers }, (answer) => {
      let bytes = 0
      let body = ''
      answer.on('data', (part: Buffer) => {
        bytes += part.length
        if (answer.statusCode !== 200) body += part
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, bytes, retryAfter: answer.headers['retry-after'], body }),
      )
      answer.on('error', reject)
    })
    request.on('error', reject)
  })
}

const burst = (address: (i: number) => string, headers: Record<string, string>) =>
  Promise.all(Array.from({ length: BURST }, (_, i) => ask(address(i), headers)))

async function tilesDuring<T>(work: () => Promise<T>): Promise<T> {
  const { token } = await gateway().issueToken({ basemap_codes: ['world'] })
  const tiles = new SteadyLoad([`${gateway().url}/tiles/world/0/0/0.png`], { 'x-access-token': token })
  const result = await work()
  const { failures, answered } = await tiles.stop()
  expect(failures).toEqual({})
  expect(answered).toBeGreaterThan(0)
  return result
}

test('bursts of capabilities with a token that no process knows are served, and every process survives', async () => {
  const workers = gateway().edges[0]?.process.workers()
  for (const how of ['header', 'query'] as const) {
    const { token } = await gateway().issueToken({ basemap_codes: ['*'] })
    const answers = await tilesDuring(() =>
      how === 'header'
        ? burst(() => CAPABILITIES, { 'x-access-token': token })
        : burst(() => `${CAPABILITIES}&token=${token}`, { 'accept-encoding': 'gzip' }),
    )
    expect(new Set(answers.map(({ status }) => status)), how).toEqual(new Set([200]))
    // All responses contain the same document.
    expect(new Set(answers.map(({ bytes }) => bytes)).size, how).toBe(1)
    expect(answers[0]?.bytes, how).toBeGreaterThan(how === 'header' ? BASEMAPS * 300 : BASEMAPS)
  }
  expect(gateway().edges[0]?.process.workers()).toEqual(workers)
})

test('a burst of different lists of one token is served up to the bound, and the rest gets 429 in the common form', async () => {
  const workers = gateway().edges[0]?.process.workers()
  const { token } = await gateway().issueToken({ basemap_codes: ['*'] })
  const answers = await tilesDuring(() =>
    burst((i) => `/api/v1/catalog/basemaps?q=crowd&offset=${i}`, { 'x-access-token': token }),
  )
  for (const { status, retryAfter, body } of answers) {
    if (status === 200) continue
    expect([status, retryAfter]).toEqual([429, '2'])
    expect(JSON.parse(body)).toEqual({ error: expect.stringContaining('documents are being made') })
  }
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
  expect(gateway().edges[0]?.process.workers()).toEqual(workers)
})
