import { execFileSync } from 'node:child_process'
import { existsSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alphaDifferences, GLOBE, GLOBE_REFERENCE, psnr, tile, Workshop } from './testing/workshop.js'

const shop = new Workshop()
const gdal = (tool: string, ...args: string[]) => execFileSync(tool, ['-q', ...args], { stdio: 'pipe' })
let small: string

beforeAll(() => {
  small = shop.path('small.tif')
  gdal('gdal_translate', ...GLOBE_REFERENCE, '-outsize', '256', '128', GLOBE, small)
})
afterAll(() => shop.close())

async function reasonOf(path: string) {
  const { code, lines } = await shop.tile(shop.request({ source_paths: [path] }))
  const line = lines.at(-1)
  if (code === 0 || line?.type !== 'result' || line.ok) throw new Error(`${path} was sliced`)
  return line
}

describe.runIf(shop.engines.includes('gdal'))('a source in another format', () => {
  test.each([
    ['HFA', 'it.img', 'Erdas Imagine (HFA, .img)'],
    ['VRT', 'it.vrt', 'VRT (GDAL virtual raster)'],
    ['ENVI', 'it.bsq', 'ENVI'],
    ['ENVI', 'bare', 'ENVI'],
    ['MRF', 'it.mrf', 'MRF'],
    ['GPKG', 'it.gpkg', 'GeoPackage, MBTiles or SQLite'],
    ['GIF', 'it.gif', 'GIF'],
    ['BMP', 'it.bmp', 'BMP'],
    ['NITF', 'it.ntf', 'NITF'],
  ])('%s %s is named, and the command in the message makes an image that is sliced', async (driver, name, format) => {
    const path = shop.path(`${driver}-${name}`)
    gdal('gdal_translate', '-of', driver, ...(driver === 'GIF' ? ['-b', '1'] : []), small, path)
    const failure = await reasonOf(path)
    expect(failure).toMatchObject({ message_code: 'slice_source_format', message_params: { format } })
    const command = String(failure.message_params?.command)
    expect(failure.reason).toContain(command)
    execFileSync('/bin/sh', ['-c', command], { stdio: 'pipe' })
    const made = /'([^']+-converted\.tif)'/.exec(command)?.[1] ?? ''
    expect(existsSync(made)).toBe(true)
    expect(await shop.layer({ source_paths: [made] })).not.toBe('')
  })

  test('NetCDF is named, with a command that extracts one of its images', async () => {
    const path = shop.path('it.nc')
    gdal('gdal_translate', '-of', 'netCDF', '-b', '1', small, path)
    const failure = await reasonOf(path)
    expect(failure).toMatchObject({ message_code: 'slice_source_subdatasets', message_params: { format: 'NetCDF' } })
    const command = String(failure.message_params?.command).replace('VARIABLE', 'Band1')
    execFileSync('/bin/sh', ['-c', command], { stdio: 'pipe' })
  })

  test('a name with quotes is one word of the command', async () => {
    const path = shop.path("it's; touch x.img")
    gdal('gdal_translate', '-of', 'HFA', small, path)
    const command = String((await reasonOf(path)).message_params?.command)
    execFileSync('/bin/sh', ['-c', command], { stdio: 'pipe', cwd: shop.dir })
    expect([existsSync(shop.path('x.img')), existsSync(shop.path("it's; touch x-converted.tif"))]).toEqual([
      false,
      true,
    ])
  })

  test('a packed file must be unpacked first, and a file of an unknown format gets the general message', async () => {
    writeFileSync(shop.path('it.zip'), 'PK\x03\x04 and more')
    writeFileSync(shop.path('it.txt'), 'hello')
    expect(await reasonOf(shop.path('it.zip'))).toMatchObject({ message_code: 'slice_source_archive' })
    expect((await reasonOf(shop.path('it.txt'))).reason).toMatch(/not a readable GeoTIFF, JPEG or PNG/)
  })
})

describe.runIf(shop.engines.includes('gdal'))('JPEG 2000', () => {
  test('is sliced like a GeoTIFF of the same pixels', async () => {
    const path = shop.path('it.jp2')
    gdal('gdal_translate', '-of', 'JP2OpenJPEG', '-co', 'REVERSIBLE=YES', '-co', 'QUALITY=100', small, path)
    const [jpeg2000, tiff] = [await shop.layer({ source_paths: [path] }), await shop.layer({ source_paths: [small] })]
    const [a, b] = [await tile(jpeg2000, '0/0/0.png'), await tile(tiff, '0/0/0.png')]
    expect(psnr(a.data, b.data)).toBeGreaterThan(50)
  })

  test('that is truncated is refused as damaged', async () => {
    const path = shop.path('cut.jp2')
    gdal('gdal_translate', '-of', 'JP2OpenJPEG', small, path)
    truncateSync(path, 60)
    expect(await reasonOf(path)).toMatchObject({ message_code: 'slice_source_damaged' })
  })
})

describe('ground control points', () => {
  const control = (points: readonly (readonly number[])[]) => points.flatMap((point) => ['-gcp', ...point.map(String)])
  const AFFINE = control([
    [0, 0, -10, 60],
    [256, 0, 30, 60],
    [0, 128, -10, 40],
    [256, 128, 30, 40],
  ])
  // A sheet whose lines are bent.
  const bent = [0, 64, 128].flatMap((line) =>
    [0, 64, 128, 256].map((pixel) => [
      pixel,
      line,
      -10 + pixel / 8 + (line / 100) ** 2,
      60 - line / 8 + (pixel / 150) ** 2,
    ]),
  )

  test.each([
    ['four on a rectangle', AFFINE],
    ['twelve on a bent sheet', control(bent)],
  ])('%s place an image as gdalwarp places it', async (name, points) => {
    const path = shop.path(`${name}.tif`)
    gdal(
      'gdal_translate',
      '-a_srs',
      'EPSG:4326',
      ...points,
      '-a_nodata',
      'none',
      GLOBE,
      '-srcwin',
      '1500',
      '500',
      '256',
      '128',
      path,
    )
    const layer = await shop.layer({ source_paths: [path], zoom_min: 4, zoom_max: 4 })
    const reference = shop.path(`${name}-reference.tif`)
    const half = 20037508.342789244
    const tileSpan = (2 * half) / 16
    const extent = [-half + 8 * tileSpan, half - 6 * tileSpan, -half + 9 * tileSpan, half - 5 * tileSpan].map(String)
    gdal(
      'gdalwarp',
      '-t_srs',
      'EPSG:3857',
      '-te',
      ...extent,
      '-ts',
      '256',
      '256',
      '-r',
      'cubic',
      '-dstalpha',
      path,
      reference,
    )
    gdal('gdal_translate', '-of', 'PNG', reference, shop.path(`${name}-reference.png`))
    const [made, wanted] = [await tile(layer, '4/8/5.png'), await tile(shop.dir, `${name}-reference.png`)]
    expect(psnr(made.data, wanted.data)).toBeGreaterThan(40)
    expect(alphaDifferences(made.data, wanted.data, 128)).toBeLessThan(300)
  })

  test('that do not place it are refused, with a command that may help', async () => {
    const path = shop.path('two.tif')
    gdal('gdal_translate', '-a_srs', 'EPSG:4326', ...AFFINE.slice(0, 10), GLOBE, path)
    expect(await reasonOf(path)).toMatchObject({ message_code: 'slice_gcps_unusable', message_params: { count: 2 } })
  })
})

test('the plan contains the zoom of the native resolution of the images', async () => {
  const request = shop.request({ source_paths: [small], zoom_min: 5, zoom_max: 6, estimate_only: true })
  expect((await shop.tile(request)).lines[1]).toMatchObject({ type: 'plan', min_zoom: 5, native_zoom: 0 })
})
