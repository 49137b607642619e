import { describe, expect, it } from 'vitest'
import { crsKind, isUsableCrs, isUsableSystem } from './crs.js'
import { type GdalInfo, imageryOf } from './imagery.js'
import { rangeOf } from './stretch.js'

type Band = GdalInfo['bands'][number]
const band = (colorInterpretation: string, more: Partial<Band> = {}): Band => ({
  type: 'Byte',
  colorInterpretation,
  ...more,
})
const info = (bands: Band[], driverShortName = 'GTiff'): GdalInfo => ({ driverShortName, size: [1, 1], bands })
const NODATA = { noDataValue: 0 }
const RGB = ['Red', 'Green', 'Blue']

describe('imageryOf', () => {
  const cases: [string, Band[], object][] = [
    ['RGB', RGB.map((name) => band(name)), { colours: [1, 2, 3], masks: [], palette: 'none', range: null }],
    ['BGR', ['Blue', 'Green', 'Red'].map((name) => band(name)), { colours: [3, 2, 1] }],
    [
      'RGBA',
      [...RGB.map((name) => band(name, { mask: { flags: ['PER_DATASET', 'ALPHA'] } })), band('Alpha')],
      { masks: [1] },
    ],
    ['grey', [band('Gray')], { colours: [1, 1, 1], masks: [] }],
    [
      'grey and alpha',
      [band('Gray', { mask: { flags: ['PER_DATASET', 'ALPHA'] } }), band('Alpha')],
      { colours: [1, 1, 1], masks: [1] },
    ],
    [
      'an alpha band that GDAL makes no mask of',
      [...RGB.map((name) => band(name)), band('Undefined'), band('Alpha')],
      { masks: [5], maskedBy: 'alpha' },
    ],
    [
      'grey and alpha of floats',
      ['Gray', 'Alpha'].map((name) => band(name, { type: 'Float32' })),
      { masks: [2], maskedBy: 'presence' },
    ],
    ['floats, which may hold NaN', [band('Gray', { type: 'Float64' })], { masks: [1], maskedBy: 'number' }],
    ['a mask band', RGB.map((name) => band(name, { mask: { flags: ['PER_DATASET'] } })), { masks: [1] }],
    ['masks of single bands', RGB.map((name) => band(name, { mask: { flags: [] } })), { masks: [1, 2, 3] }],
    [
      'alpha and nodata',
      [...RGB, 'Alpha'].map((name) => band(name, NODATA)),
      { colours: [1, 2, 3], masks: [4], maskedBy: 'alpha' },
    ],
    [
      'alpha and a mask',
      [...RGB, 'Alpha'].map((name) => band(name, { mask: { flags: ['PER_DATASET'] } })),
      { masks: [4], maskedBy: 'alpha' },
    ],
    ['nodata in every band', RGB.map((name) => band(name, NODATA)), { masks: [1, 2, 3] }],
    ['nodata in one band', [band('Red', NODATA), band('Green'), band('Blue')], { masks: [] }],
    ['many bands', Array.from({ length: 6 }, () => band('Undefined')), { colours: [1, 2, 3] }],
    ['two bands', [band('Gray'), band('Undefined')], { colours: [1, 1, 1] }],
    ['16 bits', RGB.map((name) => band(name, { type: 'UInt16' })), { range: 'measured' }],
    ['4 bits', [band('Gray', { metadata: { IMAGE_STRUCTURE: { NBITS: '4' } } })], { range: [0, 15] }],
    ['a palette', [band('Palette', { colorTable: { entries: [[1, 2, 3, 255]] } })], { palette: 'opaque', range: null }],
    [
      'a palette with a hole',
      [band('Palette', { colorTable: { entries: [[1, 2, 3, 0]] } })],
      { palette: 'transparent' },
    ],
  ]
  it.each(cases)('recognizes %s', (_, bands, expected) => {
    expect(imageryOf(info(bands))).toMatchObject({ ok: true, imagery: expected })
  })

  it('masks heights by nodata, even next to an alpha band', () => {
    const bands = ['Gray', 'Alpha'].map((name) => band(name, { type: 'Float32', ...NODATA }))
    expect(imageryOf(info(bands), 'heights')).toMatchObject({ imagery: { masks: [1], maskedBy: 'mask' } })
  })

  it('masks by the nodata values of all bands together', () => {
    const source = { ...info(RGB.map((name) => band(name))), metadata: { '': { NODATA_VALUES: '0 0 0' } } }
    expect(imageryOf(source)).toMatchObject({ imagery: { masks: [1], maskedBy: 'mask' } })
  })

  it('uses 16-bit PNG at its own values', () => {
    expect(imageryOf(info([band('Gray', { type: 'UInt16' })], 'PNG'))).toMatchObject({ imagery: { range: [0, 65535] } })
  })

  it.each([
    ['complex numbers', [band('Gray', { type: 'CFloat32' })]],
    ['no bands', []],
    ['inks of 16 bits', ['Cyan', 'Magenta', 'Yellow', 'Black'].map((name) => band(name, { type: 'UInt16' }))],
    [
      'signed bytes that are read as unsigned',
      [band('Gray', { metadata: { IMAGE_STRUCTURE: { PIXELTYPE: 'SIGNEDBYTE' } } })],
    ],
  ])('refuses %s', (_, bands) => expect(imageryOf(info(bands)).ok).toBe(false))
})

describe('rangeOf', () => {
  it('is the whole range if it is evenly filled', () => {
    expect(rangeOf(Array.from({ length: 10_000 }, (_, index) => index))).toEqual([0, 9999])
  })
  it('leaves out a few outliers that would darken everything', () => {
    const values = Array.from({ length: 10_000 }, (_, index) => index % 1000)
    const [low, high] = rangeOf([...values, 65_535, 65_535])
    expect([low, high]).toEqual([1, 999])
  })
  it('is never empty', () => {
    expect(rangeOf([])).toEqual([0, 1])
    expect(rangeOf([5, 5])).toEqual([5, 6])
  })
})

/** GDAL's text of a Web Mercator without an identifier. */
function pseudoMercator(longitude: number, unit: string, metres: number): string {
  const parameter = (name: string, value: number) =>
    `PARAMETER["${name}",${value},ANGLEUNIT["Degree",0.0174532925199433]]`
  const parameters = [
    parameter('Latitude of natural origin', 0),
    parameter('Longitude of natural origin', longitude),
    parameter('False easting', 0),
    parameter('False northing', 0),
  ]
  const base =
    'BASEGEOGCRS["WGS 84",DATUM["W",ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]]],PRIMEM["G",0,A]]'
  const conversion = `CONVERSION["unnamed",METHOD["Popular Visualisation Pseudo Mercator",ID["EPSG",1024]],${parameters}]`
  return `PROJCRS["x",${base},${conversion},CS[Cartesian,2],AXIS["(E)",east,ORDER[1],LENGTHUNIT["${unit}",${metres}]]]`
}

describe('reference systems', () => {
  const base =
    'GEOGCRS["WGS 84",DATUM["W",ELLIPSOID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],CS[ellipsoidal,2],ID["EPSG",4326]]'
  it.each([
    ['geographic', base],
    ['geographic', 'GEOGCS["GCS_WGS_1984",PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'],
    ['other', 'GEOGCS["NTF (Paris)",PRIMEM["Paris",2.33722917],UNIT["grad",0.01570796326794897]]'],
    [
      'web-mercator',
      'PROJCRS["WGS 84 / Pseudo-Mercator",BASEGEOGCRS["WGS 84",ID["EPSG",4326]],CS[Cartesian,2],ID["EPSG",3857]]',
    ],
    ['web-mercator', pseudoMercator(0, 'metre', 1)],
    ['other', pseudoMercator(180, 'metre', 1)],
    ['other', pseudoMercator(0, 'US survey foot', 0.304800609601219)],
    [
      'other',
      'PROJCRS["WGS 84 / UTM zone 33N",BASEGEOGCRS["WGS 84",ID["EPSG",4326]],CS[Cartesian,2],ID["EPSG",32633]]',
    ],
  ])('%s: %s', (kind, wkt) => {
    expect(isUsableCrs(wkt)).toBe(true)
    expect(crsKind(wkt)).toBe(kind)
  })
  it.each([
    'PROJCS["a",EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +nadgrids=@null +wktext +no_defs"]]',
    'BOUNDCRS[ABRIDGEDTRANSFORMATION["NTv2",PARAMETERFILE["Latitude and longitude difference file","@null"]]]',
    'PROJCRS["a",BASEGEOGCRS["unknown",DATUM["unknown using nadgrids=@null"]]]',
  ])('the grid without a shift opens no file: %s', (text) => expect(isUsableCrs(text)).toBe(true))
  it.each([
    ['EPSG:3857', true],
    ['urn:ogc:def:crs:EPSG::4490', true],
    ['+proj=utm +zone=50 +datum=WGS84', true],
    ['+proj=merc +a=6378137 +b=6378137 +nadgrids=@null', true],
    ['+proj=longlat +nadgrids=/etc/passwd', false],
    ['+proj=longlat +nadgrids=some.gsb', false],
    ['+proj=pipeline +step +proj=hgridshift +grids=some.gsb', false],
    ['/etc/passwd', false],
    ['http://host/crs', false],
  ])('a file of GDAL may name its system as %s: %s', (text, usable) => expect(isUsableSystem(text)).toBe(usable))
  it.each([
    'ENGCRS["local"]',
    'LOCAL_CS["plan"]',
    'EPSG:4326',
    '/etc/passwd',
    'http://host/crs',
    '+proj=longlat +nadgrids=/etc/passwd',
    'GEOGCS["a",EXTENSION["PROJ4","+proj=longlat +nadgrids=@null,/etc/passwd"]]',
    'BOUNDCRS[ABRIDGEDTRANSFORMATION["NTv2",PARAMETERFILE["a","@null,/etc/passwd"]]]',
    'GEOGCS["a",EXTENSION["PROJ4","+proj=longlat +nadgrids=/etc/passwd"]]',
    'BOUNDCRS[SOURCECRS[],ABRIDGEDTRANSFORMATION["NTv2",PARAMETERFILE["Latitude and longitude difference file","/etc/passwd"]]]',
  ])('%s is not usable', (text) => expect(isUsableCrs(text)).toBe(false))
})
