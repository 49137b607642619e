import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeShapefile } from '../harness/fixtures/vectors.js'
import { entriesOf, shapefileParts, useMaps, useToken } from './maps.js'

const maps = useMaps()
const token = useToken(maps)

const get = (path: string, init: RequestInit = {}) =>
  fetch(maps().gateway.url + path, { ...init, headers: { 'X-Access-Token': token(), ...(init.headers as object) } })

test('a GeoJSON file is downloaded unchanged, with a file name, validators and its length', async () => {
  const answer = await get('/vectors/regions-countries/download')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/geo\+json/)
  expect(answer.headers.get('content-disposition')).toMatch(/attachment; filename="?countries\.geojson/)
  expect(answer.headers.get('etag')).toBeTruthy()
  expect(answer.headers.get('last-modified')).toBeTruthy()
  const text = await answer.text()
  expect(JSON.parse(text)).toMatchObject({ type: 'FeatureCollection' })
  expect(Number(answer.headers.get('content-length'))).toBe(Buffer.byteLength(text))
})

test('a shapefile is packed as a zip with all its sidecar files', async () => {
  const answer = await get('/vectors/regions-rivers/download')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/zip')
  expect(answer.headers.get('content-disposition')).toMatch(/rivers\.zip/)
  const entries = await entriesOf(Buffer.from(await answer.arrayBuffer()))
  expect(entries).toEqual(await shapefileParts(maps()))
  expect(Object.keys(entries)).toEqual(expect.arrayContaining(['rivers.shp', 'rivers.shx', 'rivers.dbf', 'rivers.prj']))
})

describe('a shapefile with a Chinese name', () => {
  const PARTS = ['shp', 'shx', 'dbf', 'prj', 'cpg']
  // Files that QGIS, ArcGIS, FME, GDAL and MapServer write next to a shapefile; `qml` and `sld` hold its styles.
  const BESIDE = ['qml', 'sld', 'qmd', 'qpj', 'qix', 'sbn', 'sbx', 'fix', 'idm', 'ind', 'shp.xml']
  let folder: string
  beforeAll(async () => {
    folder = join(maps().gateway.home, 'chinese')
    await mkdir(folder)
    await makeShapefile(join(folder, '主要 道路.shp'))
    for (const extension of BESIDE) await writeFile(join(folder, `主要 道路.${extension}`), `<${extension}/>`)
    await writeFile(join(folder, '主要 道路.txt'), 'no part of it')
    await maps().gateway.admin.scanSource('chinese', 'vector', folder)
  })

  test('is offered under its code in ASCII, and under its own name to clients that support it', async () => {
    const { items } = (await (await get('/api/v1/catalog/vectors?source_code=chinese')).json()) as {
      items: { code: string }[]
    }
    expect(items.map(({ code }) => code)).toEqual(['zhu-yao-dao-lu'])
    const answer = await get('/vectors/zhu-yao-dao-lu.zip')
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="zhu-yao-dao-lu.zip"; filename*=UTF-8''${encodeURIComponent('主要 道路.zip')}`,
    )
  })

  test('is packed with its styles and all other sidecar files, under names in UTF-8', async () => {
    const zip = Buffer.from(await (await get('/vectors/zhu-yao-dao-lu/download')).arrayBuffer())
    const entries = await entriesOf(zip)
    expect(Object.keys(entries).sort()).toEqual([...PARTS, ...BESIDE].map((part) => `主要 道路.${part}`).sort())
    expect(entries['主要 道路.qml']).toEqual(Buffer.from('<qml/>'))
    // PKWARE's APPNOTE, 4.4.4: bit 11 of the flags in the central directory says that a name is UTF-8.
    const flags: number[] = []
    const entry = Buffer.from([0x50, 0x4b, 1, 2])
    for (let at = zip.indexOf(entry); at >= 0; at = zip.indexOf(entry, at + 1)) flags.push(zip.readUInt16LE(at + 8))
    expect(flags.map((flag) => (flag >> 11) & 1)).toEqual(Object.keys(entries).map(() => 1))
  })

  test('gets another validator when its style is written', async () => {
    const etag = async () => (await get('/vectors/zhu-yao-dao-lu.zip')).headers.get('etag')
    const before = await etag()
    await writeFile(join(folder, '主要 道路.qml'), '<qml version="2"/>')
    expect(await etag()).not.toBe(before)
  })
})

test('an encoding set by an operator appears in the .cpg of every later zip, with another validator', async () => {
  const zip = async () => {
    const answer = await get('/vectors/regions-rivers.zip')
    const { 'rivers.cpg': cpg = '', ...others } = await entriesOf(Buffer.from(await answer.arrayBuffer()))
    return { etag: answer.headers.get('etag'), cpg: cpg.toString().trim(), others }
  }
  const set = (encoding: string) =>
    maps().gateway.admin.expect('/vectors/regions-rivers', { method: 'PATCH', body: { encoding } })
  const before = await zip()
  expect(before.cpg).toBe('UTF-8')
  await set('gb2312')
  const after = await zip()
  expect([after.cpg, after.others]).toEqual(['GBK', before.others])
  expect(after.etag).not.toBe(before.etag)
  await set('')
  expect(await zip()).toEqual(before)
})

test('the compatibility routes serve the same by relative path', async () => {
  const [a, b] = [await get('/geojson/regions/countries.geojson'), await get('/vectors/regions-countries/download')]
  expect(a.status).toBe(200)
  expect(await a.text()).toBe(await b.text())
  const zip = await get('/shp/regions/rivers.shp')
  expect(zip.status).toBe(200)
  expect(zip.headers.get('content-type')).toBe('application/zip')
  expect((await get('/geojson/regions/rivers.shp')).status).toBe(404)
  expect((await get('/shp/regions/countries.geojson')).status).toBe(404)
})

test('a relative path with spaces and non-ASCII letters is found by its encoded form', async () => {
  const answer = await get(`/geojson/${encodeURIComponent('données')}/${encodeURIComponent('été 1.geojson')}`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ type: 'FeatureCollection' })
})

for (const path of ['/vectors/regions-countries/download', '/shp/regions/rivers.shp']) {
  test(`byte ranges of ${path} are served`, async () => {
    const whole = Buffer.from(await (await get(path)).arrayBuffer())
    const etag = (await get(path)).headers.get('etag') as string
    const range = async (value: string, headers: Record<string, string> = {}) =>
      get(path, { headers: { Range: value, ...headers } })
    for (const [value, from, to] of [
      ['bytes=0-9', 0, 10],
      ['bytes=5-', 5, whole.length],
      ['bytes=-7', whole.length - 7, whole.length],
      [`bytes=3-${whole.length + 100}`, 3, whole.length],
    ] as const) {
      const answer = await range(value)
      expect([value, answer.status]).toEqual([value, 206])
      expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${whole.length}`)
      expect(Buffer.from(await answer.arrayBuffer()).equals(whole.subarray(from, to))).toBe(true)
    }
    const beyond = await range(`bytes=${whole.length}-`)
    expect(beyond.status).toBe(416)
    expect(beyond.headers.get('content-range')).toBe(`bytes */${whole.length}`)
    expect((await range('bytes=9-3')).status).not.toBe(206)
    expect((await range('lines=1-2')).status).toBe(200)
    expect((await range('bytes=0-9', { 'If-Range': etag })).status).toBe(206)
    expect((await range('bytes=0-9', { 'If-Range': '"other"' })).status).toBe(200)
    expect((await get(path)).headers.get('accept-ranges')).toBe('bytes')
  })
}

test('HEAD and If-None-Match work for downloads', async () => {
  for (const path of ['/vectors/regions-countries/download', '/vectors/regions-rivers/download']) {
    const whole = await get(path)
    const head = await get(path, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(whole.headers.get('content-length'))
    expect((await get(path, { headers: { 'If-None-Match': whole.headers.get('etag') as string } })).status).toBe(304)
  }
})

test('a vector is granted by code, by relative path or by file name', async () => {
  for (const grant of ['regions-countries', 'regions/countries.geojson', 'countries.geojson']) {
    const narrow = await maps().gateway.issueToken({ name: grant, vector_codes: [grant] })
    for (const path of ['/vectors/regions-countries/download', '/geojson/regions/countries.geojson']) {
      const answer = await fetch(maps().gateway.url + path, { headers: { 'X-Access-Token': narrow.token } })
      expect([grant, path, answer.status]).toEqual([grant, path, 200])
    }
  }
})
