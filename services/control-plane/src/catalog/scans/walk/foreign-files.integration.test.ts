import { execFileSync } from 'node:child_process'
import { createWriteStream, existsSync, rmSync, writeFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { MERCATOR_LEVELS, makeBundles, makeConf, makeRoot, makeZip } from '@gateway/tilesets/testing/esri-caches.js'
import { layer, makeGeopackage } from '@gateway/vectors/formats/testing/geopackages.js'
import { ZipArchive } from 'archiver'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeTree, PIXEL, POINT, type Tree } from '../testing/trees.js'
import { walkBasemaps } from './walk-basemaps.js'
import { walkVectors } from './walk-vectors.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

const feature = (lon: number, name: string) =>
  JSON.stringify({ type: 'Feature', properties: { name }, geometry: { type: 'Point', coordinates: [lon, 47] } })
const TWO = `{"type":"FeatureCollection","features":[${feature(8, 'a')},${feature(9, 'b')}]}`

async function walk() {
  const { vectors, warnings } = await walkVectors(tree.root, new Map(), () => {})
  const told = warnings.texts.map(
    (text, i) => [warnings.coded[i]?.code ?? text, warnings.coded[i]?.params ?? {}] as const,
  )
  return { vectors, told, codes: told.map(([code]) => code).sort(), texts: warnings.texts }
}

function ogr2ogr(driver: string, name: string): void {
  tree.put('.source.geojson', TWO)
  execFileSync('ogr2ogr', ['-f', driver, tree.at(name), tree.at('.source.geojson'), '-nln', 'places'], {
    stdio: 'pipe',
  })
}

async function zip(name: string, contents: Readonly<Record<string, string | Buffer>>): Promise<void> {
  const archive = new ZipArchive({ zlib: { level: 9 } })
  for (const [path, content] of Object.entries(contents)) archive.append(content, { name: path })
  const written = pipeline(archive, createWriteStream(tree.at(name)))
  await archive.finalize()
  await written
}

test('each kind of ignored file is one line, with its code and the remedy, however many there are', async () => {
  for (let i = 0; i < 30; i++) tree.put(`sheets/sheet${i}.tif`, 'x')
  for (let x = 0; x < 5; x++) for (let y = 0; y < 20; y++) tree.put(`world/3/${x}/${y}.png`, PIXEL)
  for (const name of [
    'a.img',
    'b.mrf',
    'c.sqlite',
    'd.topojson',
    'e.mbtiles',
    'f.xyz',
    'g.7z',
    'h.dbf',
    'README.txt',
    'j.jp2',
    'k.gdb/a.x',
  ])
    tree.put(name, 'x')
  tree.put('i.json', '{"type":"Topology","objects":{},"arcs":[]}')
  const { told, texts } = await walk()
  expect(Object.fromEntries(told.map(([code, { format, count }]) => [`${code} ${format}`, count]))).toEqual({
    'scan_image GeoTIFF': 30,
    'scan_image JPEG 2000': 1,
    'scan_image_to_convert Erdas Imagine': 1,
    'scan_image_to_convert MRF': 1,
    'scan_vector_to_convert SQLite or SpatiaLite': 1,
    'scan_vector_to_convert TopoJSON': 2,
    'scan_vector_to_pack File Geodatabase': 1,
    'scan_tiles_in_vector_source MBTiles': 1,
    'scan_tiles_in_vector_source PNG': 100,
    'scan_unknown_file .xyz': 1,
    'scan_archive 7z': 1,
    'scan_part_without_shapefile shapefile': 1,
  })
  expect(texts.every((text) => !/\{\w+\}/.test(text))).toBe(true)
})

test('zipped shapefiles are vectors, and other zips are reported', async () => {
  ogr2ogr('ESRI Shapefile', '.places.shp')
  const part = (extension: string) => execFileSync('cat', [tree.at(`.places.${extension}`)])
  await zip(
    'places.zip',
    Object.fromEntries(['shp', 'shx', 'dbf', 'prj'].map((one) => [`data/places.${one}`, part(one)])),
  )
  await zip('tiles.zip', { 'world/0/0/0.png': PIXEL })
  await zip('vectors.zip', { 'a.geojson': POINT })
  await zip('docs.zip', { 'a.txt': 'x' })
  tree.put('broken.zip', 'PK\x03\x04 nothing')
  const { vectors, codes } = await walk()
  expect(vectors).toMatchObject([
    {
      kind: 'zipped_shapefile',
      fileName: 'places.zip',
      facts: { feature_count: 2, bounds: [8, 47, 9, 47], crs: 'EPSG:4326' },
    },
  ])
  expect(codes).toEqual(['scan_archive', 'scan_broken_archive', 'scan_zip_of_tiles', 'scan_zip_of_vectors'])
})

test('GeoJSON sequences are recognized, even with the extension of GeoJSON', async () => {
  tree.put('a.geojsonl', `${feature(8, 'a')}\n${feature(9, 'b')}\n`)
  tree.put('b.geojsons', `\x1e${feature(8, 'a')}\n\x1e${feature(9, 'b')}\n`)
  tree.put('c.geojson', `${feature(8, 'a')}\n${feature(9, 'b')}\n`)
  const { vectors, codes } = await walk()
  expect(vectors.map(({ kind, facts }) => [kind, facts?.feature_count])).toEqual(Array(3).fill(['geojson_sequence', 2]))
  expect(codes).toEqual(['scan_sequence_named_geojson'])
})

test('GeoJSON in GBK is read, with its encoding', async () => {
  // "名称": "北京市海淀区"
  const name = Buffer.from('c3fbb3c6', 'hex')
  const value = Buffer.from('b1b1beb9cad0baa3b5edc7f8', 'hex')
  const [before, after] = [`{"type":"Feature","properties":{"`, `"},"geometry":${POINT}}`]
  writeFileSync(
    tree.at('a.geojson'),
    Buffer.concat([Buffer.from(before), name, Buffer.from('":"'), value, Buffer.from(after)]),
  )
  const { vectors, told } = await walk()
  expect(vectors[0]?.facts).toMatchObject({
    encoding: 'GBK',
    encoding_source: null,
    fields: [{ name: '名称', type: 'string' }],
  })
  expect(told).toEqual([['scan_geojson_encoding', { encoding: 'GBK', file: '"a.geojson"' }]])
})

test('KML, KMZ, GML and CSV are vectors by what GDAL reads in them', async () => {
  ogr2ogr('KML', 'a.kml')
  ogr2ogr('LIBKML', 'b.kmz')
  ogr2ogr('GML', 'c.gml')
  tree.put('d.csv', 'lon,lat,name\n8,47,a\n9,47,b\n')
  for (let i = 0; i < 20; i++) tree.put(`tables/${i}.csv`, 'a,b\n1,2\n')
  const { vectors, told } = await walk()
  const facts = { feature_count: 2, bounds: [8, 47, 9, 47], crs: 'EPSG:4326' }
  expect(vectors.map(({ kind }) => kind)).toEqual(['kml', 'kmz', 'gml', 'csv'])
  for (const vector of vectors) expect(vector.facts).toMatchObject(facts)
  // GDAL writes a schema next to GML, which counts as a document.
  expect(told).toMatchObject([['scan_csv_without_coordinates', { count: 20, folder: '"tables"' }]])
})

test('malicious files do no harm', async () => {
  const entities = Array.from({ length: 9 }, (_, i) => {
    const [name, inner] = [String.fromCharCode(98 + i), String.fromCharCode(97 + i)]
    return `<!ENTITY ${name} "${`&${inner};`.repeat(10)}">`
  })
  const laugh = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">${entities.join('')}]>`
  tree.put('laugh.kml', `${laugh}<kml><Document><Placemark><name>&j;</name></Placemark></Document></kml>`)
  const gml = (value: string) =>
    '<a:FeatureCollection xmlns:a="http://a/" xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><a:b><a:n>' +
    `${value}</a:n><a:g><gml:Point><gml:coordinates>8,47</gml:coordinates></gml:Point></a:g></a:b></gml:featureMember></a:FeatureCollection>`
  tree.put('laugh.gml', laugh + gml('&j;'))
  tree.put('outside.gml', `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]>${gml('&x;')}`)
  tree.put(
    'virtual.kml',
    '<OGRVRTDataSource><OGRVRTLayer name="x"><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTLayer></OGRVRTDataSource><!-- <kml> -->',
  )
  tree.put('path.csv', '/vsicurl/http://127.0.0.1:9/x,lon,lat\n1,8,47\n')
  await zip('bomb.kmz', { 'doc.kml': Buffer.alloc(300 * 1024 ** 2, 0x20) })
  await zip('bomb.zip', { 'a.shp': Buffer.alloc(300 * 1024 ** 2) })
  const { vectors, texts } = await walk()
  expect(JSON.stringify([vectors, texts])).not.toContain('root:')
  expect(vectors.map(({ relativePath, facts }) => [relativePath, facts?.feature_count ?? null])).toEqual([
    ['bomb.kmz', null],
    ['bomb.zip', null],
    ['outside.gml', 1],
    ['path.csv', 1],
  ])
})

test('without GDAL on the machine, KML, KMZ and GML are read by its WebAssembly build', async () => {
  ogr2ogr('KML', 'a.kml')
  ogr2ogr('LIBKML', 'b.kmz')
  ogr2ogr('GML', 'c.gml')
  const script = `
    import { walkVectors } from ${JSON.stringify(new URL('../../../../dist/catalog/scans/walk/walk-vectors.js', import.meta.url).href)}
    const { vectors } = await walkVectors(${JSON.stringify(tree.root)}, new Map(), () => {})
    console.log(JSON.stringify(vectors.map(({ kind, facts }) => [kind, facts?.feature_count, facts?.bounds])))
    process.exit()`
  // A separate mount namespace in which a file without a program hides GDAL's tools.
  const hide = 'for p in $(command -v ogrinfo ogr2ogr); do mount --bind /dev/null "$p"; done'
  const program = [
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    `${hide}; exec "$0" --input-type=module -e "$1"`,
    process.execPath,
    script,
  ]
  const found = JSON.parse(execFileSync('unshare', program).toString())
  expect(found).toEqual(['kml', 'kmz', 'gml'].map((kind) => [kind, 2, [8, 47, 9, 47]]))
})

const LAYOUTS = [
  ['esri/Layers/_alllayers/L00/R0000C0000.bundle', '"esri"', /Esri compact cache .* without its conf.xml/],
  ['gwc/EPSG_900913_04/0_1/0003_0010.png', '"gwc"', /GeoWebCache/],
  ['padded/00/000/000.png', '"padded"', /leading zeros/],
  ['padded/v1/02/001/003.png', '"padded/v1"', /leading zeros/],
] as const
test.each(LAYOUTS)('the layout of %s is reported once, by its name', async (path, folder, name) => {
  tree.put(path, PIXEL)
  const { basemaps, warnings } = await walkBasemaps(tree.root, () => {})
  expect(basemaps).toEqual([])
  expect(warnings.coded).toMatchObject([{ code: 'scan_layout_not_served', params: { folder } }])
  expect(warnings.texts[0]).toMatch(name)
})

test('a basemap source reports files that are not archives, but not previews next to tiles', async () => {
  tree.put('ok/0/0/0.png', PIXEL)
  tree.put('ok/preview.png', PIXEL)
  tree.put('ok/tilejson.json', '{}')
  for (const name of ['a.tif', 'b.tif', 'roads.geojson', 'tiles.zip', 'old.gpkg', 'images/x.tif']) tree.put(name, 'x')
  const { basemaps, warnings } = await walkBasemaps(tree.root, () => {})
  expect(basemaps.map(({ code }) => code)).toEqual(['ok'])
  expect(warnings.coded.map((made) => [made?.code, made?.params.count])).toEqual([
    ['scan_vector_in_basemap_source', 1],
    ['scan_archive', 1],
    ['scan_not_servable', undefined],
    ['scan_geotiff_not_served', 2],
    ['scan_geotiff_not_served', 1],
  ])
  expect(warnings.texts[2]).toBe('"old.gpkg" cannot be served: this is not an SQLite database')
})

test('archives of other makers are basemaps, each named by its path', async () => {
  const cache = makeBundles([{ level: 0, row: 0, column: 0, data: PIXEL }])
  for (const [name, data] of cache) {
    for (const place of ['esri', 'esri-versions/2024', 'server/Layers']) {
      tree.put(`${place}/_alllayers/${name}`, data)
      tree.put(`${place}/conf.xml`, makeConf({ levels: MERCATOR_LEVELS }))
    }
  }
  const inside = [
    ['root.json', makeRoot({ levels: MERCATOR_LEVELS })] as const,
    ...[...cache].map(([name, data]) => [`tile/${name}`, data] as const),
  ]
  tree.put('package.tpkx', makeZip(inside))
  tree.put('versions/v1.tpkx', makeZip(inside))
  tree.put('arcgis/L00/R00000000/C00000000.png', PIXEL)
  tree.put('tc/03/000/000/001/000/000/002.png', PIXEL)
  tree.put('mp/v2/03/0000/0001/0000/0002.png', PIXEL)
  tree.put('quad/0132.png', PIXEL)
  const { basemaps, warnings } = await walkBasemaps(tree.root, () => {})
  expect(warnings.texts.filter((text) => !text.includes('are not square'))).toEqual([])
  expect(
    basemaps
      .map(({ code, versions }) => [code, versions.map(({ version, storage }) => `${version} ${storage}`)])
      .sort(),
  ).toEqual([
    ['arcgis', ['default mapproxy_arcgis']],
    ['esri', ['default esri_compact']],
    ['esri-versions', ['2024 esri_compact']],
    ['mp', ['v2 mapproxy_mp']],
    ['package', ['default tpkx']],
    ['quad', ['default quadkey']],
    ['server', ['default esri_compact']],
    ['tc', ['default mapproxy_tc']],
    ['versions', ['v1 tpkx']],
  ])
})

test('several tables of tiles in a GeoPackage are several basemaps, and one without tiles is reported', async () => {
  const image = tree.at('image.pgm')
  writeFileSync(image, Buffer.concat([Buffer.from('P5 256 256 255\n'), Buffer.alloc(256 * 256, 9)]))
  const half = 20037508.342789244
  for (const [file, table] of [
    ['city', 'streets'],
    ['city', 'aerial'],
    ['only', 'x'],
  ]) {
    const append = existsSync(tree.at(`${file}.gpkg`)) ? ['-co', 'APPEND_SUBDATASET=YES'] : []
    const options = ['-co', 'TILING_SCHEME=GoogleMapsCompatible', '-co', `RASTER_TABLE=${table}`, ...append]
    const corner = ['-a_srs', 'EPSG:3857', '-a_ullr', `${-half}`, `${half}`, `${half}`, `${-half}`]
    execFileSync('gdal_translate', ['-q', '-of', 'GPKG', ...corner, ...options, image, tree.at(`${file}.gpkg`)])
  }
  rmSync(image)
  makeGeopackage(tree.at('roads.gpkg'), layer('roads'))
  const { basemaps, warnings } = await walkBasemaps(tree.root, () => {})
  expect(
    basemaps.map(({ code, versions }) => [code, versions.map(({ path }) => path.slice(tree.root.length))]).sort(),
  ).toEqual([
    ['city_aerial', ['/city.gpkg/aerial']],
    ['city_streets', ['/city.gpkg/streets']],
    ['only', ['/only.gpkg/x']],
  ])
  expect(warnings.coded).toMatchObject([
    { code: 'scan_geopackage_in_basemap_source', params: { file: '"roads.gpkg"' } },
  ])
})
