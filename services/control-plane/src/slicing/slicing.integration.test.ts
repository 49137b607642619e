import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSliceJob, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runElsewhere } from '../jobs/testing/run-elsewhere.js'
import { HOUSEKEEPING, prune } from '../system/housekeeping/housekeeping.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { pruneLeftRuns, pruneSliceFiles } from './files-retention.js'
import { placeLayer } from './layer-place.js'

let app: TestApp
let dataDir: string
let token: string
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'slicing-'))
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { DATA_DIR: dataDir })
  const body = { name: 'slicer', scopes: ['slice'] }
  token = (await app.admin({ method: 'POST', url: '/api/v1/admin/tokens', body })).json().token
})
afterAll(async () => {
  await app.close()
  rmSync(dataDir, { recursive: true })
})

const BODY = { target_code: 'city', source_paths: ['/images/a.tif', '/images/b.tif'] }
const submit = (body: object) =>
  app.app.inject({ method: 'POST', url: '/api/v1/slice/jobs', headers: { 'x-access-token': token }, body })
const jobs = (path = '') => app.admin({ method: 'GET', url: `/api/v1/admin/slice/jobs${path}` })

test.each([
  ['/api/v1/slice/jobs', { ...BODY, zoom_mx: 5 }, 'zoom_mx'],
  ['/api/v1/admin/slice/jobs', { ...BODY, tile_matrix_sets: 'x' }, 'tile_matrix_sets'],
  ['/api/v1/admin/slice/estimate', { ...BODY, engine: 'wasm' }, 'engine'],
  ['/api/v1/admin/tokens', { name: 'a', scope: ['slice'] }, 'scope'],
])('a field that %s does not know is refused and named', async (url, body, name) => {
  const answer = url === '/api/v1/slice/jobs' ? await submit(body) : await app.admin({ method: 'POST', url, body })
  expect(answer.statusCode).toBe(400)
  expect(answer.json().error).toContain(`body.${name}: unknown field`)
})

test('a submission is accepted with its warnings, which the job keeps; a known code warns of differences', async () => {
  const first = await submit({ ...BODY, code: 'warned' })
  const missing = {
    code: 'slice_zoom_max_missing',
    params: { zoom: 0 },
    message: expect.stringContaining('only zoom 0'),
  }
  expect([first.statusCode, first.json().warnings]).toEqual([202, [missing]])
  expect((await jobs(`/${first.json().id}`)).json()).toMatchObject({ warnings: [missing], message_code: null })
  const again = await submit({ ...BODY, code: 'warned', zoom_max: 5 })
  expect(again.json().warnings).toMatchObject([missing, { code: 'slice_code_known', params: { fields: 'zoom_max' } }])
  const listed = await jobs('?q=warned')
  expect(listed.json().items).toMatchObject([{ warnings: [missing] }])
  const good = await submit({ ...BODY, code: 'good', zoom_max: 5 })
  expect(good.json()).not.toHaveProperty('warnings')
  await app.ctx.sql`DELETE FROM slice_jobs WHERE code IN ('warned', 'good')`
})

test('one image is refused if its layer will lie in another grid when it is processed', async () => {
  const send = (more: object) =>
    app.admin({ method: 'POST', url: '/api/v1/admin/slice/jobs', body: { target_code: 'grids', ...more } })
  const one = { source_path: '/images/a.tif', tile_matrix_set: 'CGCS2000Quad', code: 'grids-1', zoom_max: 'native' }
  expect((await send(one)).json()).toMatchObject({
    tile_matrix_set: 'CGCS2000Quad',
    zoom_max: 0,
    zoom_max_native: true,
  })
  const refused = await send({ source_path: '/images/b.tif' })
  expect(refused.statusCode).toBe(409)
  expect(refused.json().error).toBe(
    'the tiles of "grids" lie in CGCS2000Quad; images cannot be merged into it in WebMercatorQuad',
  )
  const heights = await send({ ...one, code: 'grids-2', encoding: 'terrarium' })
  expect([heights.statusCode, heights.json().error]).toEqual([
    409,
    'the encoding of "grids" is rgb; images cannot be merged into it as terrarium',
  ])
  expect((await send({ ...one, output: 'pmtiles' })).statusCode).toBe(400)
  expect((await send({ ...one, tile_matrix_set: 'WebMercatorQuad' })).statusCode).toBe(202)
  expect((await send({ source_paths: ['/images/a.tif', '/images/b.tif'] })).statusCode).toBe(202)
  expect((await send({ source_path: '/images/b.tif' })).statusCode).toBe(202)
  expect((await send({ source_path: '/images/b.tif', tile_matrix_set: 'UTM31WGS84Quad' })).statusCode).toBe(400)
  await app.ctx.sql`DELETE FROM slice_jobs WHERE target_code = 'grids'`
})

test.each([[['/images/a.tif', '/images/b.tif']], [['/images/a.tif']]])(
  '%j is not laid into a version that was forgotten while its files were kept',
  async (source_paths) => {
    const { id } = (await submit({ target_code: 'kept', source_paths })).json()
    const job = (await readSliceJob(app.ctx.sql, id)) as StoredSliceJob
    const place = async (version: string | null) => {
      const lease = { id, owner: 'test', fence: 1 }
      const roots = { sliceWorkRoot: dataDir, sliceOutputRoot: dataDir }
      return placeLayer(app.ctx.sql, roots, { ...job, version }, lease, Date.parse('2026-03-01T08:00:00Z'))
    }
    mkdirSync(join(dataDir, 'kept/2026-03-01'), { recursive: true })
    expect(await place(null)).toMatchObject({ place: { layerDir: join(dataDir, 'kept/2026-03-01-2') } })
    // An interrupted run continues at the same place.
    expect(await place('2026-03-01')).toMatchObject({ place: { layerDir: join(dataDir, 'kept/2026-03-01') } })
    await app.ctx.sql`DELETE FROM slice_jobs WHERE target_code = 'kept'`
  },
)

test('a token has at most 100 unfinished jobs; the next one gets 429, and known codes still return their jobs', async () => {
  const first = (await submit({ ...BODY, code: 'first' })).json()
  for (let i = 1; i < 99; i++) expect((await submit(BODY)).statusCode).toBe(202)
  const last = await Promise.all([1, 2, 3, 4].map(() => submit(BODY)))
  expect(last.map(({ statusCode }) => statusCode).sort()).toEqual([202, 429, 429, 429])
  const refused = last.find(({ statusCode }) => statusCode === 429)
  expect(refused?.headers['retry-after']).toBe('30')
  expect(refused?.json()).toEqual({ error: expect.stringContaining('100 slice jobs that have not ended') })
  const again = await submit({ ...BODY, code: 'first' })
  expect([again.statusCode, again.json().id]).toEqual([202, first.id])
  expect((await app.admin({ method: 'POST', url: '/api/v1/admin/slice/jobs', body: BODY })).statusCode).toBe(202)
})

test('the list of jobs omits their images, the response for one job contains them', async () => {
  const { items, total } = (await jobs('?limit=5')).json()
  expect([items.length, total]).toEqual([5, 101])
  for (const item of items) {
    expect(item).toMatchObject({ source_count: 2, cancelled: false })
    expect(item).not.toHaveProperty('source_paths')
  }
  expect((await jobs(`/${items[0].id}`)).json()).toEqual({ ...items[0], source_paths: BODY.source_paths })
})

test('a cancelled job names who cancelled it and when', async () => {
  const { id } = (await jobs('?limit=1')).json().items[0]
  await app.admin({ method: 'POST', url: `/api/v1/admin/slice/jobs/${id}/cancel` })
  expect((await jobs(`/${id}`)).json()).toMatchObject({
    status: 'failed',
    cancelled: true,
    message: expect.stringMatching(/^cancelled by ADMIN_TOKEN at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
})

test('what an interrupted run left is removed with its job, and kept for one that will go on', async () => {
  const { items } = (await jobs('?status=pending&limit=1')).json()
  const ended = (await jobs('?status=failed&limit=1')).json().items[0].id
  const layer = join(dataDir, 'city')
  const names = ['2026-01-01', `.staging-${ended}-2`, `.staging-${items[0].id}-1`, `.staging-removed-${randomUUID()}`]
  for (const name of names) mkdirSync(join(layer, name), { recursive: true })
  await pruneLeftRuns(app.ctx.sql, dataDir)
  expect(readdirSync(layer).sort()).toEqual(names.filter((name) => !name.includes(ended)).sort())
})

test('housekeeping is done by one control plane, and removes logs and scratch that belong to no job', async () => {
  const { items } = (await jobs('?limit=2')).json()
  await app.ctx.sql`
    UPDATE slice_jobs SET status = 'failed', finished_at = now() - interval '91 days' WHERE id = ${items[0].id}`
  const [logs, scratch] = [join(dataDir, 'slice-logs'), join(dataDir, 'slice-temp')]
  for (const folder of [logs, join(scratch, 'tiler-old'), join(scratch, 'tiler-new')]) {
    mkdirSync(folder, { recursive: true })
  }
  for (const name of [items[0].id, items[1].id, randomUUID(), 'notes']) writeFileSync(join(logs, `${name}.log`), '')
  utimesSync(join(scratch, 'tiler-old'), 1e9, 1e9)
  const pruneAll = () => prune(app.ctx, { logs: ({ sql }) => pruneSliceFiles(sql, dataDir) })
  const endOther = await runElsewhere(app.ctx.sql, HOUSEKEEPING)
  await pruneAll()
  expect((await jobs(`/${items[0].id}`)).statusCode).toBe(200)
  await endOther()
  await pruneAll()
  expect((await jobs(`/${items[0].id}`)).statusCode).toBe(404)
  expect(readdirSync(logs).sort()).toEqual([`${items[1].id}.log`, 'notes.log'].sort())
  expect(readdirSync(scratch)).toEqual(['tiler-new'])
})
