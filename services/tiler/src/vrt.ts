import type { GeoTransform } from './footprint.js'
import type { Gcp } from './gcps.js'
import { NO_HEIGHT } from './heights.js'
import type { Imagery, MaskedBy } from './imagery.js'

/** An overview of a source, or the source itself at level -1. */
export interface Level {
  readonly index: number
  readonly width: number
  readonly height: number
}

export interface VrtInput {
  /** name of the source for GDAL */
  readonly name: string
  readonly wkt: string
  readonly width: number
  readonly height: number
  readonly transform: GeoTransform
  /** ground control points, which replace the transform */
  readonly gcps: readonly Gcp[] | null
  /** added to x, for a source that continues across the antimeridian */
  readonly shift: number
  readonly level: Level
  readonly imagery: Imagery
  /** values that become 0 and 255, or `null` if bytes stay unchanged */
  readonly range: readonly [number, number] | null
  /** true for an alpha band; all sources of one warp must agree */
  readonly alpha: boolean
  /** true for one band of 32-bit floats instead of colours */
  readonly heights: boolean
}

/**
 * Returns a GDAL virtual raster that shows a source as 8-bit red, green, blue and optionally alpha, or as elevations. Pure text; the only file that
 * it names is the source.
 */
export function vrtOf(input: VrtInput): string {
  const { level } = input
  return [
    `<VRTDataset rasterXSize="${level.width}" rasterYSize="${level.height}">`,
    ...(input.gcps === null ? placedByTransform(input) : placedByGcps(input, input.gcps)),
    ...(input.heights ? [heightBand(input)] : colourBands(input)),
    '</VRTDataset>',
  ].join('\n')
}

function placedByTransform({ wkt, transform, shift, width, height, level }: VrtInput): string[] {
  const columns = width / level.width
  const rows = height / level.height
  const numbers = [
    transform[0] + shift,
    transform[1] * columns,
    transform[2] * rows,
    transform[3],
    transform[4] * columns,
    transform[5] * rows,
  ]
  return [
    `<SRS>${escaped(wkt)}</SRS>`,
    `<GeoTransform>${numbers.map((number) => number.toPrecision(17)).join(',')}</GeoTransform>`,
  ]
}

/** X is longitude or easting: GDAL uses that order if the list declares no other. */
function placedByGcps({ wkt, shift, width, height, level }: VrtInput, gcps: readonly Gcp[]): string[] {
  const number = (value: number) => value.toPrecision(17)
  const points = gcps.map(({ pixel, line, x, y }, i) => {
    const place = `Pixel="${number((pixel * level.width) / width)}" Line="${number((line * level.height) / height)}"`
    return `<GCP Id="${i}" ${place} X="${number(x + shift)}" Y="${number(y)}"/>`
  })
  return [`<GCPList Projection="${escaped(wkt)}">`, ...points, '</GCPList>']
}

function colourBands(input: VrtInput): string[] {
  const bands = ['Red', 'Green', 'Blue'].map((colour, index) => band(index + 1, colour, colourSource(input, index)))
  return input.alpha ? [...bands, band(4, 'Alpha', alphaSources(input))] : bands
}

/** Masked pixels keep the band's nodata value. */
function heightBand(input: VrtInput): string {
  const { colours, masks, maskedBy, scaling } = input.imagery
  const masked = masks.length > 0 && maskedBy === 'mask' ? '<UseMaskBand>true</UseMaskBand>' : ''
  const numbers = masks.length > 0 && maskedBy === 'number' ? '<NODATA>nan</NODATA>' : ''
  const scaled = scaling ? `<ScaleOffset>${scaling.offset}</ScaleOffset><ScaleRatio>${scaling.ratio}</ScaleRatio>` : ''
  const source = complex(input, String(colours[0]), `${scaled}${numbers}${masked}`)
  return `<VRTRasterBand dataType="Float32" band="1"><NoDataValue>${NO_HEIGHT}</NoDataValue>${source}</VRTRasterBand>`
}

function band(number: number, colour: string, sources: string): string {
  return `<VRTRasterBand dataType="Byte" band="${number}"><ColorInterp>${colour}</ColorInterp>${sources}</VRTRasterBand>`
}

function colourSource(input: VrtInput, index: number): string {
  const number = String(input.imagery.colours[index]!)
  if (input.imagery.palette !== 'none') {
    return complex(input, number, `<ColorTableComponent>${index + 1}</ColorTableComponent>`)
  }
  return input.range ? complex(input, number, scale(input.range)) : simple(input, number)
}

/** Scales to 0 to 255. GDAL clamps values outside of the range. */
function scale([low, high]: readonly [number, number]): string {
  const ratio = 255 / (high - low)
  return `<ScaleOffset>${-low * ratio}</ScaleOffset><ScaleRatio>${ratio}</ScaleRatio>`
}

/** Sets 255 where a source is not masked. */
const OPAQUE = '<ScaleOffset>255</ScaleOffset><ScaleRatio>0</ScaleRatio>'

/** A pixel counts if any of the masks is set: each one is drawn over the previous ones where it is not zero. */
function alphaSources(input: VrtInput): string {
  const { colours, masks, maskedBy, palette } = input.imagery
  if (masks.length === 0 && palette === 'transparent') {
    return complex(input, String(colours[0]), '<ColorTableComponent>4</ColorTableComponent>')
  }
  if (masks.length > 0 && maskedBy !== 'mask') return masks.map((mask) => alphaSource(input, mask, maskedBy)).join('')
  const [first = colours[0], ...others] = masks
  const overlays = others.map((mask) => complex(input, `mask,${mask}`, '<NODATA>0</NODATA>'))
  // Not a simple source: if all sources are simple, GDAL 3.10 reads the bands at once, and reads `mask,1` as band 1.
  return [complex(input, `mask,${first}`, ''), ...overlays].join('')
}

function alphaSource(input: VrtInput, mask: number, maskedBy: Exclude<MaskedBy, 'mask'>): string {
  if (maskedBy === 'alpha') return simple(input, String(mask))
  return complex(input, String(mask), `<NODATA>${maskedBy === 'number' ? 'nan' : '0'}</NODATA>${OPAQUE}`)
}

function simple(input: VrtInput, sourceBand: string): string {
  return `<SimpleSource>${reference(input, sourceBand)}</SimpleSource>`
}

function complex(input: VrtInput, sourceBand: string, treatment: string): string {
  return `<ComplexSource>${reference(input, sourceBand)}${treatment}</ComplexSource>`
}

function reference({ name, level }: VrtInput, sourceBand: string): string {
  const options = level.index < 0 ? '' : `<OpenOptions><OOI key="OVERVIEW_LEVEL">${level.index}</OOI></OpenOptions>`
  return `<SourceFilename relativeToVRT="0">${escaped(name)}</SourceFilename>${options}<SourceBand>${sourceBand}</SourceBand>`
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
