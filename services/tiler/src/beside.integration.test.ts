import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { EngineName } from '@gateway/contracts/tiling/protocol.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeTile } from './encode.js'
import { alphaDifferences, GLOBE_REFERENCE, psnr, tile, tilesIn, Workshop } from './testing/workshop.js'

/** GDAL is the judge: a slice is compared with a warp of the same image, with the same files next to it, onto the same tile. */

const shop = new Workshop()
afterAll(() => shop.close())
const hasGdal = shop.engines.includes('gdal')

const TILE = '4/8/5.png'
/** The extent of that tile in EPSG:3857. */
const SIDE = 20037508.342789244 / 8
const EXTENT = [0, 2 * SIDE, SIDE, 3 * SIDE].map(String)
const SYSTEM = '<SRS>EPSG:4326</SRS>'
const TRANSFORM = '<GeoTransform>-13.0078125,0.087890625,0,58.359375,0,-0.087890625</GeoTransform>'
const ELSEWHERE = '<GeoTransform>93,0.087890625,0,58.359375,0,-0.087890625</GeoTransform>'
const CORNERS = [
  [0, 0],
  [500, 0],
  [500, 260],
  [0, 260],
] as const
const placeOf = (pixel: number, line: number) => [-13.0078125 + pixel * 0.087890625, 58.359375 - line * 0.087890625]

let piece: string

function gdal(program: string, ...args: string[]): void {
  execFileSync(program, ['-q', '--config', 'GDAL_TIFF_INTERNAL_MASK', 'NO', ...args])
}

async function sliced(source: string, engine: EngineName): Promise<Buffer> {
  const layer = await shop.layer({ source_paths: [source], zoom_min: 4, zoom_max: 4, engine })
  return (await tile(layer, TILE)).data
}

async function warped(source: string): Promise<Buffer> {
  const [target, picture] = [shop.path('warped.tif'), shop.path('warped.png')]
  const grid = ['-t_srs', 'EPSG:3857', '-te', ...EXTENT, '-ts', '256', '256']
  gdal('gdalwarp', '-overwrite', '-r', 'cubic', '-et', '0.05', '-dstalpha', ...grid, source, target)
  gdal('gdal_translate', '-of', 'PNG', target, picture)
  return (await decodeTile(readFileSync(picture), 256)).data
}

async function expectLikeGdal(source: string): Promise<void> {
  const reference = await warped(source)
  expect(reference.filter((value, index) => index % 4 === 3 && value === 255).length).toBeGreaterThan(1000)
  for (const engine of shop.engines) {
    const made = await sliced(source, engine)
    expect(alphaDifferences(made, reference, 2), engine).toBe(0)
    expect(psnr(made, reference), engine).toBeGreaterThan(45)
  }
}

beforeAll(async () => {
  const globe = await shop.make('globe.tif', 'gdal_translate', [...GLOBE_REFERENCE, '-co', 'TILED=YES'])
  piece = await shop.make('piece.tif', 'gdal_translate', ['-srcwin', '1900', '360', '500', '260'], globe)
  if (!hasGdal) return
  // Only the middle of it counts.
  const around = ['-te', '2', '38', '15', '52', '-ts', '148', '159', '-dstalpha', '-t_srs', 'EPSG:4326']
  gdal('gdalwarp', ...around, piece, shop.path('middle.tif'))
  const whole = ['-te', '-13.0078125', '35.5078125', '30.9375', '58.359375', '-ts', '500', '260']
  gdal('gdalwarp', ...whole, shop.path('middle.tif'), shop.path('alpha.tif'))
})

describe.runIf(hasGdal)('what is next to an image counts as it does in GDAL', () => {
  const colours = ['-b', '1', '-b', '2', '-b', '3']

  it.each([
    ['GTiff', 'masked.tif', []],
    ['PNG', 'masked.png', []],
    ['JPEG', 'masked.jpg', ['-co', 'INTERNAL_MASK=NO', '-co', 'QUALITY=95']],
  ])('the .msk of a %s', async (driver, name, options) => {
    gdal('gdal_translate', '-of', driver, ...options, ...colours, '-mask', '4', shop.path('alpha.tif'), shop.path(name))
    await expectLikeGdal(shop.path(name))
  })

  it('a .msk with overviews', async () => {
    gdal('gdal_translate', ...colours, '-mask', '4', shop.path('alpha.tif'), shop.path('overviews.tif'))
    gdal('gdaladdo', '-ro', '-r', 'average', shop.path('overviews.tif'), '2', '4')
    const whole = await sliced(shop.path('overviews.tif'), 'gdal')
    const layer = (engine: EngineName) =>
      shop.layer({ source_paths: [shop.path('overviews.tif')], zoom_min: 2, zoom_max: 2, engine })
    const [native, portable] = [await layer('gdal'), await layer('wasm')]
    expect(tilesIn(portable)).toEqual(tilesIn(native))
    for (const name of tilesIn(native)) {
      const [a, b] = [await tile(native, name), await tile(portable, name)]
      expect([a.alpha, alphaDifferences(a.data, b.data, 2)]).toEqual(['partial', 0])
    }
    expect(alphaDifferences(whole, await warped(shop.path('overviews.tif')), 2)).toBe(0)
  })

  it('an alpha band next to nodata and a mask', async () => {
    gdal('gdal_translate', '-a_nodata', '0', shop.path('alpha.tif'), shop.path('both.tif'))
    const plain = await warped(shop.path('alpha.tif'))
    for (const engine of shop.engines) {
      expect(alphaDifferences(await sliced(shop.path('both.tif'), engine), plain, 2), engine).toBe(0)
    }
  })

  it('a transform that overrides the internal one', async () => {
    const source = shop.path('override.tif')
    gdal('gdal_translate', '-a_ullr', '93', '58.359375', '136.9453125', '35.5078125', piece, source)
    writeFileSync(`${source}.aux.xml`, `<PAMDataset>${SYSTEM}${TRANSFORM}</PAMDataset>`)
    await expectLikeGdal(source)
  })

  it('nodata of 16 bits', async () => {
    const source = shop.path('wide.tif')
    gdal('gdal_translate', '-ot', 'UInt16', '-b', '1', '-scale', '0', '255', '5000', '60000', piece, source)
    gdal('gdal_translate', '-a_nodata', '9000', source, shop.path('declared.tif'))
    const band = '<PAMRasterBand band="1"><NoDataValue>9000</NoDataValue></PAMRasterBand>'
    writeFileSync(`${source}.aux.xml`, `<PAMDataset>${band}</PAMDataset>`)
    const declared = await sliced(shop.path('declared.tif'), 'gdal')
    for (const engine of shop.engines) {
      const made = await sliced(source, engine)
      expect([alphaDifferences(made, declared, 2), psnr(made, declared) > 50], engine).toEqual([0, true])
    }
  })

  it.each([
    ['png', '.pgw'],
    ['jpg', '.jgw'],
    ['tif', '.tfw'],
  ])('a world file against the .aux.xml of a %s, in the order of its driver', async (extension, world) => {
    const driver = { png: 'PNG', jpg: 'JPEG', tif: 'GTiff' }[extension]!
    const source = shop.path(`order.${extension}`)
    gdal(
      'gdal_translate',
      '-of',
      driver,
      '-co',
      driver === 'GTiff' ? 'PROFILE=BASELINE' : 'WORLDFILE=NO',
      piece,
      source,
    )
    const isWorldFirst = driver === 'PNG'
    writeFileSync(`${source}.aux.xml`, `<PAMDataset>${SYSTEM}${isWorldFirst ? ELSEWHERE : TRANSFORM}</PAMDataset>`)
    const west = isWorldFirst ? -12.9638671875 : 93
    writeFileSync(shop.path(`order${world}`), `0.087890625\n0\n0\n-0.087890625\n${west}\n58.3154296875\n`)
    await expectLikeGdal(source)
  })

  it("ground control points of GDAL's and ArcGIS's files", async () => {
    const plain = await warped(piece)
    const points = CORNERS.map(([pixel, line], id) => {
      const [x, y] = placeOf(pixel, line)
      return `<GCP Id="${id}" Pixel="${pixel}" Line="${line}" X="${x}" Y="${y}"/>`
    })
    const doubles = (values: readonly (number | undefined)[]) =>
      values.map((value) => `<Double>${value}</Double>`).join('')
    const wkt =
      'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
    const from = doubles(CORNERS.flatMap(([pixel, line]) => [pixel, -line]))
    const to = doubles(CORNERS.flatMap(([pixel, line]) => placeOf(pixel, line)))
    const files = {
      gdal: `<PAMDataset><GCPList Projection="EPSG:4326">${points.join('')}</GCPList></PAMDataset>`,
      esri: `<PAMDataset><Metadata domain="xml:ESRI" format="xml"><GeodataXform><SpatialReference><WKT>${wkt}</WKT></SpatialReference><SourceGCPs>${from}</SourceGCPs><TargetGCPs>${to}</TargetGCPs></GeodataXform></Metadata></PAMDataset>`,
    }
    for (const [name, xml] of Object.entries(files)) {
      const source = shop.path(`${name}-points.png`)
      gdal('gdal_translate', '-of', 'PNG', piece, source)
      writeFileSync(`${source}.aux.xml`, xml)
      for (const engine of shop.engines) expect(psnr(await sliced(source, engine), plain), name).toBeGreaterThan(45)
    }
  })

  it('a masked image leaves the layer below as it is', async () => {
    const below = await shop.layer({ source_paths: [piece], zoom_min: 4, zoom_max: 4 })
    const request = { mode: 'accumulate', layer_dir: below, zoom_min: 4, zoom_max: 4 } as const
    const after = await shop.layer({ source_paths: [shop.path('masked.tif')], ...request })
    const [before, merged] = [await tile(below, TILE), await tile(after, TILE)]
    expect(merged.alpha).toBe('opaque')
    expect(psnr(merged.data, before.data)).toBeGreaterThan(35)
  })

  it('a path with quotes, angle brackets and other letters', async () => {
    const source = shop.path(`5" <draft> & 'é图' (1).tif`)
    cpSync(shop.path('masked.tif'), source)
    cpSync(shop.path('masked.tif.msk'), `${source}.msk`)
    expect(alphaDifferences(await sliced(source, 'gdal'), await warped(shop.path('masked.tif')), 2)).toBe(0)
  })
})

it.runIf(hasGdal)('an image with RPCs names the command that places it', async () => {
  const source = shop.path("camera's.tif")
  gdal('gdal_translate', '-co', 'PROFILE=BASELINE', piece, source)
  // GDAL writes the georeference of such a file next to it.
  rmSync(`${source}.aux.xml`)
  writeFileSync(shop.path("camera's_RPC.TXT"), 'LINE_OFF: 1\n')
  const { lines } = await shop.tile(shop.request({ source_paths: [source] }))
  expect(lines.at(-1)).toMatchObject({
    message_code: 'slice_source_rpc',
    reason: expect.stringContaining(`gdalwarp -rpc -t_srs EPSG:3857 -dstalpha '${source.replace("'", "'\\''")}'`),
  })
})
