import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ZipArchive } from 'archiver'
import { expect, test } from 'vitest'
import { tilesBuilt } from '../harness/tiles-built.js'
import { useGateway } from '../harness/use-gateway.js'
import { WITHOUT_GDAL } from '../harness/without-gdal.mjs'

/** Every format is read, and every form is made, on a machine that has only Node. */

const TEXTS = ['01569', '2:3', '北京', '=1+1', 'two\nlines']
const point = (i: number) => ({ type: 'Point', coordinates: [8 + i, 47] })
const FEATURES = TEXTS.map((code, i) => ({
  type: 'Feature',
  id: i * 10,
  properties: { code, NAME: `n ${i}`, large: 2 ** 53 + 2 * i, share: i / 8, day: `2024-02-0${i + 1}` },
  geometry: point(i),
}))
const PLAIN = JSON.stringify({ type: 'FeatureCollection', features: FEATURES })
const PLACE = '<Placemark><name>A</name><Point><coordinates>8,47</coordinates></Point></Placemark>'
const KML = `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${PLACE}</Document></kml>`
const GPX =
  '<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="47" lon="8"><name>A</name></wpt></gpx>'
const GML = `<a:FeatureCollection xmlns:a="http://a/" xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><a:place><a:name>A</a:name>
  <a:geom><gml:Point srsName="EPSG:4326"><gml:coordinates>8,47</gml:coordinates></gml:Point></a:geom></a:place></gml:featureMember></a:FeatureCollection>`
const DXF = ['0', 'SECTION', '2', 'ENTITIES', '0', 'POINT', '8', 'A', '10', '8', '20', '47', '0', 'ENDSEC', '0', 'EOF']

let vectors = ''
let token = ''
const gateway = useGateway({ before: WITHOUT_GDAL }, async ({ home, admin }) => {
  vectors = join(home, 'vectors')
  await put('plain.geojson', PLAIN)
  await put('sequence.geojsonl', FEATURES.map((one) => `${JSON.stringify(one)}\n`).join(''))
  await put('place.kml', KML)
  await put('place-packed.kmz', await zipOf(KML))
  await put('place-gpx.gpx', GPX)
  await put('place-gml.gml', GML)
  await put('place-dxf.dxf', `${DXF.join('\n')}\n`)
  await admin.scanSource('plain', 'vector', vectors)
})

async function put(name: string, content: string | Buffer) {
  await mkdir(dirname(join(vectors, name)), { recursive: true })
  await writeFile(join(vectors, name), content)
}

async function zipOf(kml: string): Promise<Buffer> {
  const archive = new ZipArchive()
  archive.append(kml, { name: 'doc.kml' })
  void archive.finalize()
  const pieces: Buffer[] = []
  for await (const piece of archive) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

async function answer(path: string): Promise<Buffer> {
  token ||= (await gateway().issueToken({ vector_codes: ['*'] })).token
  const got = await fetch(`${gateway().url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const body = Buffer.from(await got.arrayBuffer())
  expect([path, got.status, got.status === 200 ? '' : body.toString()]).toEqual([path, 200, ''])
  return body
}

interface Item {
  readonly id: unknown
  readonly geometry: unknown
  readonly properties: Readonly<Record<string, unknown>>
}

async function itemsOf(code: string): Promise<readonly Item[]> {
  const built = await tilesBuilt(gateway(), code)
  expect([code, built.tiles.status, built.tiles.message]).toEqual([code, 'ready', ''])
  expect((await answer(`/vectors/${code}/tiles/0/0/0.mvt`)).length).toBeGreaterThan(0)
  return (JSON.parse((await answer(`/ogc/collections/${code}/items`)).toString()) as { features: Item[] }).features
}

const FORMS = ['geojson', 'gpkg', 'fgb', 'zip', 'csv'] as const

test('the gateway has no GDAL', () => {
  const [command = '', ...args] = [...WITHOUT_GDAL, 'ogr2ogr', '--version']
  expect(spawnSync(command, args).stdout.toString()).toBe('')
})

test.each(['plain', 'sequence'])('%s has its features, with their ids, names and values', async (code) => {
  expect(await itemsOf(code)).toEqual(FEATURES)
})

test.each([
  ['place', 'Name'],
  ['place-packed', 'Name'],
  ['place-gpx', 'name'],
  ['place-gml', 'name'],
  ['place-dxf', 'Layer'],
])('%s has its place, and every form of a download', async (code, name) => {
  const items = await itemsOf(code)
  expect(items.map(({ geometry, properties }) => [geometry, properties[name]])).toEqual([[point(0), 'A']])
  for (const form of FORMS) expect((await answer(`/vectors/${code}.${form}`)).length).toBeGreaterThan(0)
})

test.each(FORMS)('a download as %s is a vector with the same features', async (form) => {
  const name = `again-${form}`
  await put(`${name}.${form}`, await answer(`/vectors/plain.${form}`))
  await gateway().admin.expect('/scan-sources/plain/run', { method: 'POST' })
  const [items, plain] = [await itemsOf(name), await itemsOf('plain')]
  expect(items.length).toBe(plain.length)
  for (const { geometry, properties } of plain) {
    const other = items.find((one) => one.properties.code === properties.code)
    expect(other?.geometry).toEqual(geometry)
    expect(other?.properties).toMatchObject(properties)
  }
})
