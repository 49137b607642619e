import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { ZipArchive } from 'archiver'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { open, settled, shot, useBrowser } from './console-browser.js'

const FEATURE = '{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":[8,47]}}'
/** "道路" */
const NAME = '道路'
let vectors = ''

const gateway = useGateway({}, async ({ home, admin }) => {
  vectors = join(home, 'vectors')
  await mkdir(join(vectors, 'sheets'), { recursive: true })
  const put = (name: string, content: string | Buffer) => writeFileSync(join(vectors, name), content)
  put(`${NAME}.geojson`, FEATURE)
  const source = join(vectors, `${NAME}.geojson`)
  const ogr2ogr = (driver: string, name: string) =>
    execFileSync('ogr2ogr', ['-f', driver, join(vectors, name), source, '-nln', 'places'])
  ogr2ogr('KML', `${NAME}.kml`)
  ogr2ogr('LIBKML', `${NAME}.kmz`)
  ogr2ogr('GML', `${NAME}.gml`)
  put(`${NAME}.geojsonl`, `${FEATURE}\n${FEATURE}\n`)
  put(`${NAME}.csv`, 'lon,lat,name\n8,47,a\n')
  put('table.csv', 'a,b\n1,2\n')
  await mkdir(join(home, 'parts'))
  execFileSync('ogr2ogr', ['-f', 'ESRI Shapefile', join(home, 'parts/a.shp'), source])
  put(`${NAME}.zip`, await zipOf(join(home, 'parts')))
  for (let i = 0; i < 25; i++) put(`sheets/${i}a.tif`, 'x')
  put('scene.img', 'x')
  put('routes.sqlite', 'x')
  const image = ['-q', '-outsize', '64', '32', '-a_srs', 'EPSG:4326', '-a_ullr', '-180', '90', '180', '-90']
  execFileSync('gdal_translate', [
    ...image,
    '-of',
    'HFA',
    'services/tools/demo-data/imagery/blue-marble.jpg',
    join(home, 'scene.img'),
  ])
  execFileSync('gdal_translate', [
    ...image,
    'services/tools/demo-data/imagery/blue-marble.jpg',
    join(home, 'scene.tif'),
  ])
  await admin.scanSource('messy', 'vector', vectors)
})
const openConsole = useBrowser()

async function zipOf(folder: string): Promise<Buffer> {
  const archive = new ZipArchive()
  for (const part of ['shp', 'shx', 'dbf', 'prj']) archive.file(join(folder, `a.${part}`), { name: `a.${part}` })
  void archive.finalize()
  const pieces: Buffer[] = []
  for await (const piece of archive) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

test.each([
  ['zip', 'zipped_shapefile', 'application/zip', 1],
  ['kml', 'kml', 'application/vnd.google-earth.kml+xml', 1],
  ['kmz', 'kmz', 'application/vnd.google-earth.kmz', 1],
  ['gml', 'gml', 'application/gml+xml', 1],
  ['geojsonl', 'geojson_sequence', 'application/x-ndjson', 2],
  ['csv', 'csv', 'text/csv', 1],
])('a .%s is listed as %s and downloaded as it is stored', async (extension, kind, type, count) => {
  const { token } = await gateway().admin.issueToken({ vector_codes: ['*'] })
  const headers = { 'x-access-token': token }
  const listed = await fetch(`${gateway().url}/api/v1/catalog/vectors?kind=${kind}`, { headers })
  const { items } = (await listed.json()) as { items: { code: string; download_url: string }[] }
  expect(items).toMatchObject([
    { kind, file_name: `${NAME}.${extension}`, feature_count: count, bounds: [8, 47, 8, 47] },
  ])
  const code = items[0]?.code ?? ''
  const paths = [`/vectors/${code}/download`, `/vectors/${code}.${extension}`]
  if (kind === 'geojson_sequence') paths.push(`/geojson/${encodeURIComponent(NAME)}.${extension}`)
  for (const path of paths) {
    const answer = await fetch(`${gateway().url}${path}`, { headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect(answer.headers.get('content-disposition')).toContain(
      `filename*=UTF-8''${encodeURIComponent(NAME)}.${extension}`,
    )
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(readFileSync(join(vectors, `${NAME}.${extension}`)))
  }
  const other = await fetch(`${gateway().url}/vectors/${code}.${extension === 'kml' ? 'kmz' : 'kml'}`, { headers })
  expect(other.status).toBe(404)
})

test('the console shows what a scan left out and the remedy, in the language of the user', async () => {
  const { page, expectClean } = await openConsole(gateway())
  await open(page, '/sources/messy')
  await page.getByRole('button', { name: /4 warnings/ }).click()
  await page.getByText('25 files in "sheets" are left out').waitFor()
  await page.getByText('convert it and slice the result: gdal_translate').waitFor()
  await page.getByText('this CSV has no columns of coordinates').waitFor()
  await settled(page)
  await shot(page, 'scan-report')
  await expectClean()
  const chinese = await openConsole(gateway(), { locale: 'zh-CN' })
  await open(chinese.page, '/sources/messy')
  await chinese.page.getByRole('button', { name: /4/ }).first().click()
  await chinese.page.getByText('"sheets" 中有 25 个文件未收录').waitFor()
  await shot(chinese.page, 'scan-report-zh')
})

test('a slice job names an unsupported format, and warns of zooms without more detail', async () => {
  const { admin, home } = gateway()
  const submit = (name: string, more: object) =>
    admin.expect<SliceJob>('/slice/jobs', { body: { target_code: 'scene', source_path: join(home, name), ...more } })
  const ended = async (id: string): Promise<SliceJob> => {
    for (;;) {
      const job = await admin.expect<SliceJob>(`/slice/jobs/${id}`)
      if (job.finished_at !== null) return job
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const first = await submit('scene.img', {})
  expect(first.warnings).toMatchObject([{ code: 'slice_zoom_max_missing' }])
  const failed = await ended(first.id)
  expect(failed).toMatchObject({ status: 'failed', message_code: 'slice_source_format', warnings: first.warnings })
  expect(failed.message).toContain(`gdal_translate -of COG '${join(home, 'scene.img')}'`)
  const deep = await ended((await submit('scene.tif', { zoom_min: 2, zoom_max: 3 })).id)
  expect(deep).toMatchObject({
    status: 'succeeded',
    warnings: [{ code: 'slice_zoom_min_above_native', params: { native: 0 } }],
  })
  const { page } = await openConsole(gateway(), { locale: 'zh-CN' })
  await open(page, `/slicing/jobs/${failed.id}`)
  await page.getByText('切片不读取；请转换后提交结果').waitFor()
  await page.getByText('没有给出 zoom_max').waitFor()
  await shot(page, 'slice-warnings-zh')
})
