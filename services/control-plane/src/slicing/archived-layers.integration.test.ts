import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { PMTiles } from 'pmtiles'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourcesFromSettings } from '../catalog/sources/configured-sources.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { slicingLoop } from './loop.js'

let home: string
let gateway: TestApp
let stop: AbortController
let loop: Promise<unknown>
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'slice-archives-'))
  mkdirSync(path.join(home, 'images'))
  for (const [name, west] of Object.entries({ west: -89, east: 91 })) {
    const file = path.join(home, 'images', `${name}.tif`)
    const look = ['-of', 'GTiff', '-ot', 'Byte', '-bands', '3', '-burn', '200', '-outsize', '64', '64']
    const place = ['-a_srs', 'EPSG:4326', '-a_ullr', `${west}`, '60', `${west + 38.4}`, '21.6']
    execFileSync('gdal_create', ['-q', ...look, ...place, file])
  }
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, { DATA_DIR: home })
  await sourcesFromSettings(gateway.ctx.sql, gateway.ctx.settings)
  stop = new AbortController()
  loop = slicingLoop.run({ ...gateway.ctx, shutdown: stop.signal })
})
afterAll(async () => {
  stop.abort()
  await loop
  await gateway.close()
  rmSync(home, { recursive: true })
})

const image = (name: string) => path.join(home, 'images', `${name}.tif`)
const submit = (body: object) => {
  const payload = { target_code: 'city', zoom_min: 2, zoom_max: 3, ...body }
  return gateway.admin({ method: 'POST', url: '/api/v1/admin/slice/jobs', payload })
}

async function sliced(body: object): Promise<SliceJob> {
  const answer = await submit(body)
  expect(answer.statusCode, answer.body).toBe(202)
  const url = `/api/v1/admin/slice/jobs/${answer.json().id}`
  const job = async () => (await gateway.admin({ method: 'GET', url })).json()
  await expect.poll(async () => (await job()).status).toMatch(/succeeded|failed/)
  expect(await job()).toMatchObject({ status: 'succeeded', message: '' })
  return job()
}

async function columns(file: string): Promise<number[]> {
  const bytes = readFileSync(file)
  const archive = new PMTiles({
    getKey: () => file,
    getBytes: async (offset, length) => ({ data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer }),
  })
  const found: number[] = []
  for (let x = 0; x < 8; x++) if ((await archive.getZxy(3, x, 3)) !== undefined) found.push(x)
  return found
}

test('a layer of the output pmtiles is one archive, to which further images are added', async () => {
  const first = await sliced({ source_path: image('west'), output: 'pmtiles' })
  expect(first.output).toBe('pmtiles')
  expect(first.output_root).toMatch(/\/city\/[^/]+\.pmtiles$/)
  expect(await columns(first.output_root)).toEqual([2])
  const layer = path.dirname(first.output_root)
  expect(readdirSync(layer)).toEqual([path.basename(first.output_root)])
  const before = await readBasemap(gateway.ctx.sql, 'city')
  expect(before?.versions).toMatchObject([{ path: first.output_root, storage: 'pmtiles', minZoom: 2, maxZoom: 3 }])

  // Keeps the output of the layer by default.
  const second = await sliced({ source_path: image('east') })
  expect(second).toMatchObject({ output: 'pmtiles', output_root: first.output_root })
  expect(await columns(first.output_root)).toEqual([2, 6])
  expect((await readBasemap(gateway.ctx.sql, 'city'))?.versions[0]?.revision).toBeGreaterThan(
    before?.versions[0]?.revision ?? 0,
  )
  const refused = await submit({ source_path: image('east'), output: 'folder' })
  expect([refused.statusCode, refused.json().error]).toEqual([409, expect.stringContaining('folder')])
})

test('a version of several images may have another output, and a removed archive leaves nothing behind', async () => {
  const sources = [image('west'), image('east')]
  const folder = await sliced({ source_paths: sources, output: 'folder' })
  expect(folder.output_root).not.toContain('.pmtiles')
  expect(readdirSync(folder.output_root)).toContain('metadata.json')
  const { output, output_root: root } = await sliced({ source_paths: sources, output: 'pmtiles' })
  expect([output, await columns(root)]).toEqual(['pmtiles', [2, 6]])
  const version = path.basename(root, '.pmtiles')
  const url = `/api/v1/admin/basemaps/city/versions/${version}?files=true`
  const removed = await gateway.admin({ method: 'DELETE', url })
  expect([removed.statusCode, removed.json().files]).toEqual([200, 1])
  expect(readdirSync(path.dirname(root))).not.toContain(path.basename(root))
})

test('no image is added to the files of a forgotten archive', async () => {
  mkdirSync(path.join(home, 'layers/left'), { recursive: true })
  const day = new Date(gateway.ctx.now()).toISOString().slice(0, 10)
  writeFileSync(path.join(home, `layers/left/${day}.pmtiles`), 'another')
  const { output_root: root } = await sliced({ target_code: 'left', source_path: image('west'), output: 'pmtiles' })
  expect(path.basename(root)).toBe(`${day}-2.pmtiles`)
})
