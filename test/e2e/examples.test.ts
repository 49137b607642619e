import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { PushRecord } from '@gateway/contracts/push.js'
import { expect, onTestFinished, test } from 'vitest'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import { useGateway } from '../harness/use-gateway.js'
import { useResource } from '../harness/use-resource.js'

const execute = promisify(execFile)
const EXAMPLES = fileURLToPath(new URL('../../docs/examples/', import.meta.url))
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

let token: string
let image: string
const gateway = useGateway({}, async (started) => {
  await makeTileFolder(join(started.home, 'maps/world/2026-01'), { shade: 40 })
  await makeGeojson(join(started.home, 'vectors/roads.geojson'))
  image = await makeGeotiff(join(started.home, 'image.tif'), {
    bounds: [0, 0, 10, 10],
    colour: { r: 200, g: 30, b: 30 },
  })
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'maps'))
  await started.admin.scanSource('vectors', 'vector', join(started.home, 'vectors'))
  token = (await started.issueToken({ basemap_codes: ['*'], vector_codes: ['*'], scopes: ['read', 'slice'] })).token
})
const dir = useResource(
  () => mkdtemp(join(tmpdir(), 'examples-')),
  (path) => rm(path, { recursive: true }),
)

test('the Python client lists, saves a tile and a vector, slices, and reports the reason of a refusal', async () => {
  const client = (...args: string[]) => execute('python3', [join(EXAMPLES, 'client.py'), gateway().url, token, ...args])
  expect((await client('list')).stdout).toBe('basemap world 2026-01\nvector roads geojson\n')
  const [tile, vector] = [join(dir(), 'tile.png'), join(dir(), 'roads.geojson')]
  await client('tile', 'world', '1', '0', '1', tile)
  expect((await readFile(tile)).subarray(1, 4).toString()).toBe('PNG')
  await client('vector', 'roads', vector)
  expect(JSON.parse(await readFile(vector, 'utf8')).type).toBe('FeatureCollection')
  expect((await client('slice', image, 'by-python', '2')).stdout).toBe('succeeded\n')
  await expect(client('vector', 'nowhere', vector)).rejects.toMatchObject({ code: 1, stderr: /^404: \S/ })
})

test('the TypeScript client compiles strictly, and does the same', async () => {
  const out = ['--outDir', dir(), '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom', '--types', '']
  await execute(process.execPath, [TSC, '--ignoreConfig', '--strict', ...out, join(EXAMPLES, 'client.ts')])
  const { Gateway, Refused } = await import(join(dir(), 'client.js'))
  const client = new Gateway(gateway().url, token)
  expect((await client.basemaps()).map(({ code }: { code: string }) => code)).toContain('world')
  expect((await client.vectors())[0]).toMatchObject({ code: 'roads', kind: 'geojson' })
  expect((await client.tile('world', 1, 0, 1)).type).toBe('image/png')
  expect(await client.tile('world', 9, 0, 0)).toBeNull()
  expect(await new Response(await client.download('roads')).json()).toMatchObject({ type: 'FeatureCollection' })
  const job = { code: 'ts', name: 'ts', target_code: 'by-typescript', source_path: image, zoom_max: 2 }
  expect(await client.slice(job)).toMatchObject({ status: 'succeeded' })
  await expect(client.download('nowhere')).rejects.toThrow(Refused)
})

test('the receiver accepts a signed delivery once, and refuses a changed one', async () => {
  const receiver = spawn(process.execPath, [join(EXAMPLES, 'webhook-receiver.mjs')], {
    env: { SECRET, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    receiver.kill()
    await once(receiver, 'exit')
  })
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]()
  const url = `http://${String((await lines.next()).value).replace('listening on ', '')}/`
  const target = { code: 'receiver', kind: 'http', mode: 'notify', url, secret: SECRET }
  await gateway().admin.expect('/targets', { body: target })
  const push = { target_code: 'receiver', basemap_code: 'world', version: '2026-01' }
  const { id } = await gateway().admin.expect<PushRecord>('/pushes', { body: push })
  const event = JSON.parse(String((await lines.next()).value))
  expect(event).toMatchObject({ event: 'basemap.version.pushed', record: { id }, basemap: { code: 'world' } })
  const record = () => gateway().admin.expect<PushRecord>(`/push-records/${id}`)
  await expect.poll(async () => (await record()).status).toBe('succeeded')

  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' }
  expect((await fetch(url, { method: 'POST', headers, body: JSON.stringify(event) })).status).toBe(401)
})
