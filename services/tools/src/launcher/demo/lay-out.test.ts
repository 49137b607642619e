import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import { openSource } from '@gateway/tilesets/open-source.js'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'

// The built module: it starts a second one next to it as a process.
const built = new URL('../../../dist/launcher/demo/lay-out.js', import.meta.url).href
const { layOutDemoData } = (await import(built)) as typeof import('./lay-out.js')

let parent: string
let dir: string
let basemaps: string
let vectors: string
let styles: string
const mbtiles = new MbtilesReaders({ onHang: () => {}, onAnswer: () => {} })
beforeAll(async () => {
  parent = fs.mkdtempSync(path.join(os.tmpdir(), 'demo-'))
  dir = path.join(parent, 'demo')
  fs.mkdirSync(path.join(parent, 'demo.unfinished-1', 'basemaps'), { recursive: true })
  const roots = await layOutDemoData(dir)
  basemaps = roots.basemapRoot
  vectors = roots.vectorRoot
  styles = roots.styleRoot
}, 60_000)
afterAll(() => {
  mbtiles.close()
  fs.rmSync(parent, { recursive: true })
})

const SETS = [
  ['xyz', 'world/2026-10', 'webp'],
  ['xyz', 'world/2026-11', 'webp'],
  ['mbtiles', 'world-mbtiles.mbtiles', 'jpg'],
  ['pmtiles', 'world-pmtiles.pmtiles', 'webp'],
] as const

test.each(SETS)('the %s basemap %s tells what it is, without a warning', async (storage, name, format) => {
  expect(await probeTileSet(basemaps, path.join(basemaps, name))).toMatchObject({
    storage,
    format,
    tileSize: 256,
    minZoom: 0,
    maxZoom: 4,
    bounds: [-180, -85.0511, 180, 85.0511],
    attribution: 'NASA Blue Marble',
    warnings: [],
  })
})

test.each(SETS)('the %s basemap %s shows sea, sand and ice where they are', async (storage, name, extension) => {
  const tileOf = await reading(storage, path.join(basemaps, name), extension)
  const colourAt = async (longitude: number, latitude: number) => {
    const x = ((longitude + 180) / 360) * 16
    const y = ((1 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / Math.PI) / 2) * 16
    const [left, top] = [Math.floor((x % 1) * 248), Math.floor((y % 1) * 248)]
    const patch = sharp(await tileOf(4, Math.floor(x), Math.floor(y))).extract({ left, top, width: 8, height: 8 })
    const [red, , blue] = await patch.resize(1, 1).removeAlpha().raw().toBuffer()
    return { red: red!, blue: blue! }
  }
  const tyrrhenianSea = await colourAt(12, 40)
  const libyanDesert = await colourAt(25, 26)
  const greenland = await colourAt(-40, 75)
  expect(tyrrhenianSea.blue).toBeGreaterThan(tyrrhenianSea.red + 30)
  expect(libyanDesert.red).toBeGreaterThan(libyanDesert.blue + 30)
  expect(Math.min(greenland.red, greenland.blue)).toBeGreaterThan(200)
})

test('the shapefile holds the countries of the GeoJSON file', () => {
  const folder = path.join(vectors, 'natural-earth')
  const read = (name: string) => fs.readFileSync(path.join(folder, name))
  const countries = JSON.parse(read('countries.geojson').toString()).features as { properties: { NAME: string } }[]
  const [shp, shx, dbf] = [read('countries_shp.shp'), read('countries_shp.shx'), read('countries_shp.dbf')]
  expect(countries).toHaveLength(177)
  expect([shp.readInt32BE(24) * 2, shx.length, dbf.readUInt32LE(4)]).toEqual([shp.length, 100 + 8 * 177, 177])
  for (let i = 0; i < 177; i++) expect(shp.readInt32BE(shx.readInt32BE(100 + 8 * i) * 2)).toBe(i + 1)
  for (const { properties } of countries) expect(dbf.includes(properties.NAME)).toBe(true)
  expect(read('countries_shp.cpg').toString()).toBe('UTF-8')
})

test('what an earlier start left unfinished is gone, and a second call makes nothing', async () => {
  expect(fs.readdirSync(parent)).toEqual(['demo'])
  const before = fs.statSync(path.join(basemaps, 'world')).ino
  await layOutDemoData(dir)
  expect(fs.statSync(path.join(basemaps, 'world')).ino).toBe(before)
})

async function reading(storage: 'xyz' | 'mbtiles' | 'pmtiles', file: string, extension: 'webp' | 'jpg') {
  const spec = { id: 1, storage, format: extension, root: basemaps, path: file, extension, isRemote: false }
  const source = await openSource(spec, { mbtiles, cached: null })
  return async (z: number, x: number, y: number) => {
    const tile = await source?.tile({ z, x, y })
    if (!tile || tile === 'busy' || !(tile.body instanceof Uint8Array)) throw new Error('no such tile')
    return tile.body
  }
}

test('the style draws the basemap and the vector of the demo, with the icons next to it', () => {
  const folder = path.join(styles, 'world-countries')
  const style = JSON.parse(fs.readFileSync(path.join(folder, 'style.json'), 'utf8'))
  expect(style.sources).toMatchObject({
    imagery: { url: 'gateway://basemaps/world' },
    countries: { url: 'gateway://vectors/natural-earth-countries' },
    names: { data: 'data/names.geojson' },
  })
  const [, , small, , large] = style.layers.at(-1).layout['icon-image']
  expect(fs.readdirSync(path.join(folder, 'icons'))).toEqual([`${large}.svg`, `${small}.svg`])
})

test('data of an earlier release gets the style', async () => {
  fs.rmSync(styles, { recursive: true })
  await layOutDemoData(dir)
  expect(fs.existsSync(path.join(styles, 'world-countries/style.json'))).toBe(true)
})
