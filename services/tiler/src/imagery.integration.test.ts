import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { METADATA_FILE, type TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alphaDifferences, GLOBE_REFERENCE, pixel, psnr, tile, tilesIn, Workshop } from './testing/workshop.js'

/** A result that names its reason by a code, too. */
const CODED_FAILURE = {
  type: 'result',
  ok: false,
  message_code: expect.any(String),
  message_params: expect.any(Object),
}

const shop = new Workshop()
afterAll(() => shop.close())

/** A piece of Europe at the resolution of zoom 4, and a tile of that zoom that it covers. */
const PIECE = ['-srcwin', '1900', '360', '500', '260']
const INSIDE = '4/8/5.png'
const LAYER = { zoom_min: 4, zoom_max: 4 } as const
const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'

let globe: string
let piece: string
let plain: Buffer

async function slice(source: string | string[], changes: Partial<TilingRequest> = LAYER): Promise<string> {
  return shop.layer({ source_paths: [source].flat(), ...changes })
}

async function inside(source: string | string[]): Promise<Buffer> {
  return (await tile(await slice(source), INSIDE)).data
}

beforeAll(async () => {
  globe = await shop.make('globe.tif', 'gdal_translate', [...GLOBE_REFERENCE, '-co', 'TILED=YES'])
  piece = await shop.make('piece.tif', 'gdal_translate', PIECE, globe)
  plain = await inside(piece)
})

describe('pixels of every kind', () => {
  it('shows grey as grey', async () => {
    const grey = await inside(await shop.make('grey.tif', 'gdal_translate', ['-b', '2'], piece))
    const [red, green, blue, alpha] = pixel(grey, 128, 128)
    expect([red, blue, alpha]).toEqual([green, green, 255])
    expect(green).toBe(pixel(plain, 128, 128)[1])
  })

  it.each([
    ['16-bit', 'UInt16', [0, 51000], 200],
    ['floating-point', 'Float32', [-1, 1], 2 / 255],
  ])('shows %s values by one scale, which the layer remembers', async (name, type, [low, high], step) => {
    const wide = ['-ot', type, '-scale', '0', '255', String(low), String(high)]
    const source = await shop.make(`${type}.tif`, 'gdal_translate', wide, piece)
    const south = await shop.make(`${type}-south.tif`, 'gdal_translate', ['-srcwin', '0', '130', '500', '130'], source)
    // The smaller source lies on top and holds no light pixels: by a separate scale it would be brighter.
    const layer = await slice([source, south])
    const [least, most] = JSON.parse(readFileSync(join(layer, METADATA_FILE), 'utf8')).value_range
    const expected = Buffer.from(plain)
    for (let i = 0; i < expected.length; i++) {
      const value = plain[i]! * step + low!
      if (i % 4 < 3) expected[i] = Math.max(0, Math.min(255, ((value - least) * 255) / (most - least)))
    }
    expect(psnr((await tile(layer, INSIDE)).data, expected), name).toBeGreaterThan(40)
  })

  it('shows 16-bit PNG at its own values', async () => {
    const wide = ['-ot', 'UInt16', '-scale', '0', '255', '0', '65535', '-of', 'PNG']
    const source = await shop.make('wide.png', 'gdal_translate', wide, piece)
    writeFileSync(shop.path('wide.pgw'), '0.087890625\n0\n0\n-0.087890625\n-12.9638671875\n58.3154296875\n')
    writeFileSync(shop.path('wide.prj'), WGS84)
    expect(psnr(await inside(source), plain)).toBeGreaterThan(45)
  })

  it('shows the first three of many bands', async () => {
    const many = ['1', '2', '3', '1', '1', '2'].flatMap((band) => ['-b', band])
    const source = await shop.make('many.tif', 'gdal_translate', [...many, '-co', 'PHOTOMETRIC=RGB'], piece)
    expect(psnr(await inside(source), plain)).toBe(Number.POSITIVE_INFINITY)
  })

  it('shows only the colours of a palette, unless another interpolation is asked for', async () => {
    // One bit a pixel has a palette of black and white.
    const bits = ['-b', '1', '-co', 'NBITS=1', '-scale', '0', '90', '0', '1']
    const source = await shop.make('bits.tif', 'gdal_translate', bits, piece)
    const redsOf = async (changes: Partial<TilingRequest>, name: string) => {
      const { data } = await tile(await slice(source, { zoom_min: 3, zoom_max: 4, ...changes }), name)
      return [...new Set(data.filter((_, index) => index % 4 === 0 && data[index + 3] === 255))]
    }
    // WebP would invent colours if it were lossy, and an overview if it were a mean.
    for (const [format, name] of [
      ['png', INSIDE],
      ['webp', '4/8/5.webp'],
      ['webp', '3/4/2.webp'],
    ] as const) {
      expect((await redsOf({ tile_format: format }, name)).toSorted((a, b) => a - b)).toEqual([0, 255])
    }
    const mixed = await redsOf({ resampling: 'cubic' }, INSIDE)
    expect([Math.min(...mixed), Math.max(...mixed)]).toEqual([0, 255])
    expect(mixed.length).toBeGreaterThan(50)
  })
})

describe('pixels that do not count', () => {
  it('nodata is transparent, and black in only one band is not nodata', async () => {
    const dark = ['-scale', '40', '255', '0', '255']
    const colours = await inside(await shop.make('dark.tif', 'gdal_translate', dark, piece))
    const made = await inside(await shop.make('nodata.tif', 'gdal_translate', ['-a_nodata', '0', ...dark], piece))
    const count = { black: 0, blackShown: 0, blue: 0, blueShown: 0 }
    for (let i = 0; i < made.length; i += 4) {
      const [red, green, blue] = pixel(colours, (i / 4) % 256, Math.floor(i / 4 / 256)) as [number, number, number]
      if (red + green + blue === 0) {
        count.black++
        if (made[i + 3] === 255) count.blackShown++
      } else if (red === 0 && blue > 10) {
        count.blue++
        if (made[i + 3] === 255) count.blueShown++
      }
    }
    expect(count.blue).toBeGreaterThan(1000)
    expect(count.blueShown / count.blue).toBeGreaterThan(0.95)
    expect(count.black).toBeGreaterThan(50)
    expect(count.blackShown / count.black).toBeLessThan(0.4)
  })

  it('alpha bands and mask bands cut a source out alike', async () => {
    const around = [
      '-te',
      '-30',
      '20',
      '60',
      '70',
      '-ts',
      '1024',
      '570',
      '-dstalpha',
      '-of',
      'GTiff',
      '-t_srs',
      'EPSG:4326',
    ]
    const alpha = await shop.make('alpha.tif', 'gdalwarp', around, piece)
    const sources = [await shop.make('grey-alpha.tif', 'gdal_translate', ['-b', '1', '-b', '4'], alpha)]
    if (shop.engines.includes('gdal')) {
      const config = ['--config', 'GDAL_TIFF_INTERNAL_MASK', 'YES', '-b', '1', '-b', '2', '-b', '3', '-mask', '4']
      execFileSync('gdal_translate', ['-q', ...config, alpha, shop.path('mask.tif')])
      sources.push(shop.path('mask.tif'))
    }
    const reference = await slice(alpha)
    for (const source of sources) {
      const layer = await slice(source)
      expect(tilesIn(layer)).toEqual(tilesIn(reference))
      for (const name of tilesIn(reference)) {
        const [a, b] = [await tile(layer, name), await tile(reference, name)]
        expect(alphaDifferences(a.data, b.data), `${source} ${name}`).toBe(0)
      }
    }
    // The frame is empty but for the piece.
    expect(tilesIn(reference)).toEqual(tilesIn(await slice(piece)))
    expect((await tile(reference, INSIDE)).alpha).toBe('opaque')
  })

  it('a source without a single visible pixel fails with a reason', async () => {
    const empty = ['-scale', '0', '255', '7', '7', '-a_nodata', '7']
    const source = await shop.make('nothing.tif', 'gdal_translate', empty, piece)
    const { code, lines } = await shop.tile(shop.request({ ...LAYER, source_paths: [source] }))
    expect(code).toBe(1)
    expect(lines.at(-1)).toEqual({ ...CODED_FAILURE, reason: expect.stringContaining('no visible pixels') })
  })
})

describe('formats and georeferencing next to the image', () => {
  it.each([
    ['JPEG', 'jpg'],
    ['PNG', 'png'],
  ])('%s with a world file and a .prj is placed by them', async (driver, extension) => {
    const quality = driver === 'JPEG' ? ['-co', 'QUALITY=100'] : []
    const source = await shop.make(`beside.${extension}`, 'gdal_translate', ['-of', driver, ...quality], piece)
    const world = `beside.${extension[0]}${extension.at(-1)}w`
    writeFileSync(shop.path(world), '0.087890625\n0\n0\n-0.087890625\n-12.9638671875\n58.3154296875\n')
    writeFileSync(shop.path('beside.prj'), WGS84)
    expect(psnr(await inside(source), plain)).toBeGreaterThan(38)
  })

  it('an .aux.xml supplies the reference system, the transform and nodata', async () => {
    const source = await shop.make('pam.png', 'gdal_translate', ['-of', 'PNG', '-b', '1'], piece)
    const transform = '<GeoTransform> -13.0078125, 0.087890625, 0, 58.359375, 0, -0.087890625</GeoTransform>'
    const system = `<SRS dataAxisToSRSAxisMapping="2,1">${WGS84.replaceAll('"', '&quot;')}</SRS>`
    const nodata = '<PAMRasterBand band="1"><NoDataValue>20</NoDataValue></PAMRasterBand>'
    writeFileSync(`${source}.aux.xml`, `<PAMDataset>${system}${transform}${nodata}</PAMDataset>`)
    const declared = await shop.make('declared.tif', 'gdal_translate', ['-b', '1', '-a_nodata', '20'], piece)
    const [made, reference] = [await inside(source), await inside(declared)]
    expect(alphaDifferences(reference, plain)).toBeGreaterThan(100)
    expect(psnr(made, reference)).toBe(Number.POSITIVE_INFINITY)
    expect(alphaDifferences(made, reference)).toBe(0)
  })

  it.each([
    ['webp', 'webp'],
    ['avif', 'avif'],
    ['jpg', 'webp'],
  ] as const)('%s is stored as %s', async (asked, stored) => {
    const shape = { zoom_min: 2, zoom_max: 3, tile_format: asked, tile_size: 512 } as const
    const request = shop.request({ source_paths: [piece], ...shape })
    const { lines } = await shop.tile(request)
    const result = { ok: true, format: stored, tile_size: 512, min_zoom: 2, max_zoom: 3 }
    expect(lines.at(-1)).toMatchObject(result)
    const names = tilesIn(request.staging_dir)
    expect(names.every((name) => name.endsWith(`.${stored}`))).toBe(true)
    expect((await tile(request.staging_dir, names[0]!, 512)).data.length).toBe(512 * 512 * 4)
  })
})

it.each(['Float32.tif', 'bits.tif', 'nodata.tif'])('both engines give the same result for %s', async (name) => {
  if (!shop.engines.includes('gdal')) return expect(shop.engines).toEqual(['wasm'])
  const source = shop.path(name)
  const [native, portable] = [await slice(source), await slice(source, { ...LAYER, engine: 'wasm' })]
  expect(tilesIn(portable)).toEqual(tilesIn(native))
  for (const each of tilesIn(native)) {
    const [a, b] = [await tile(native, each), await tile(portable, each)]
    expect(alphaDifferences(a.data, b.data), each).toBe(0)
    expect(psnr(a.data, b.data), each).toBeGreaterThan(50)
  }
})
