import { coded } from '@gateway/contracts/messages.js'
import { z } from 'zod'
import { fail, quoted } from './failure.js'

/** The used parts of `gdalinfo -json`. */
export const gdalInfoSchema = z.object({
  driverShortName: z.string(),
  size: z.tuple([z.number(), z.number()]),
  /** by domain; '' is that of the image itself */
  metadata: z.record(z.string(), z.unknown()).optional(),
  coordinateSystem: z.object({ wkt: z.string() }).optional(),
  geoTransform: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]).optional(),
  gcps: z
    .object({
      gcpList: z.array(z.object({ pixel: z.number(), line: z.number(), x: z.number(), y: z.number() })),
      coordinateSystem: z.object({ wkt: z.string() }).optional(),
    })
    .optional(),
  bands: z.array(
    z.object({
      type: z.string(),
      colorInterpretation: z.string().optional(),
      // GDAL writes NaN and infinities as text.
      noDataValue: z.union([z.number(), z.string()]).optional(),
      // Absent if all pixels count, and for nodata. Empty flags: a mask of this band only.
      mask: z
        .object({
          flags: z.array(z.string()),
          overviews: z.array(z.object({ size: z.tuple([z.number(), z.number()]) })).optional(),
        })
        .optional(),
      scale: z.number().optional(),
      offset: z.number().optional(),
      colorTable: z.object({ entries: z.array(z.array(z.number())) }).optional(),
      overviews: z.array(z.object({ size: z.tuple([z.number(), z.number()]) })).optional(),
      metadata: z
        .object({
          IMAGE_STRUCTURE: z.object({ NBITS: z.string().optional(), PIXELTYPE: z.string().optional() }).optional(),
        })
        .optional(),
    }),
  ),
})
export type GdalInfo = z.infer<typeof gdalInfoSchema>

/**
 * `mask`: GDAL's mask of the band (alpha, nodata, mask bands). `alpha`: the band is an alpha of bytes for which GDAL makes no mask, because
 * it is neither the second of two bands nor the fourth of four. `presence`: the band is an alpha of wider values with an unknown scale;
 * any value except 0 counts. `number`: any value except NaN counts; elevation models often contain NaN without declaring it.
 */
export type MaskedBy = 'mask' | 'alpha' | 'presence' | 'number'

/** The mapping of a source's bands to red, green, blue and alpha. */
export interface Imagery {
  /** band numbers for red, green and blue; three times the same one for grey and palettes */
  readonly colours: readonly [number, number, number]
  /** colours are looked up in the band's palette, with its alpha if an entry is transparent */
  readonly palette: 'none' | 'opaque' | 'transparent'
  /** bands that mask the pixels: a pixel counts if any of them is set; empty: all count */
  readonly masks: readonly number[]
  /** kind of the masks */
  readonly maskedBy: MaskedBy
  /** range that becomes 0 to 255; `measured`: derived from the pixels of all sources; `null`: bytes, unchanged */
  readonly range: readonly [number, number] | 'measured' | null
  /** declared scale of the first band: value = pixel * ratio + offset */
  readonly scaling: { readonly ratio: number; readonly offset: number } | null
}

const MEASURED_TYPES = new Set([
  'Int8',
  'UInt16',
  'Int16',
  'UInt32',
  'Int32',
  'UInt64',
  'Int64',
  'Float16',
  'Float32',
  'Float64',
])

const INKS = new Set(['Cyan', 'Magenta', 'Yellow', 'Black'])

/** The use of a source's bands. */
export type Content = 'colours' | 'heights'

/** Returns the mapping of a source, or the reason why it cannot be shown. */
export function imageryOf(
  info: GdalInfo,
  content: Content = 'colours',
): { ok: true; imagery: Imagery } | { ok: false; reason: string } {
  const { bands } = info
  if (bands.length === 0) return { ok: false, reason: 'said.source_no_bands' }
  const colours = coloursOf(info)
  const first = bands[colours[0] - 1]!
  const strange = colours
    .map((band) => bands[band - 1]!.type)
    .find((type) => type !== 'Byte' && !MEASURED_TYPES.has(type))
  if (strange) return { ok: false, reason: `has pixels of type ${strange}, which cannot be shown as colours` }
  const misread = misreadAs(info, colours)
  if (misread !== null) return { ok: false, reason: misread }
  const entries = first.colorInterpretation === 'Palette' ? (first.colorTable?.entries ?? []) : []
  const transparent = entries.some((entry) => (entry[3] ?? 255) < 255)
  const palette = entries.length === 0 ? 'none' : transparent ? 'transparent' : 'opaque'
  return {
    ok: true,
    imagery: {
      colours,
      palette,
      ...masksOf(info, colours, content),
      range: palette === 'none' ? rangeOf(info, colours) : null,
      scaling:
        first.scale === undefined && first.offset === undefined
          ? null
          : { ratio: first.scale ?? 1, offset: first.offset ?? 0 },
    },
  }
}

/** Throws a `Failure` if a source is an image instead of one band of elevations. */
export function assertHeights({ path, imagery }: { readonly path: string; readonly imagery: Imagery }): void {
  const { colours, palette, maskedBy } = imagery
  if (new Set(colours).size > 1 || palette !== 'none') {
    fail(coded('slice_source_picture', { source: quoted(path) }))
  }
  if (maskedBy === 'alpha' || maskedBy === 'presence') {
    fail(coded('slice_source_alpha', { source: quoted(path) }))
  }
}

/** Bands that would be shown in wrong colours. GDAL itself converts inks of 8 bits in JPEG and TIFF, and reads signed bytes as such from version 3.7. */
function misreadAs({ bands }: GdalInfo, colours: readonly number[]): string | null {
  if (bands.some(({ colorInterpretation = '' }) => INKS.has(colorInterpretation))) return 'said.source_inks'
  const isSigned = colours.some((band) => bands[band - 1]!.metadata?.IMAGE_STRUCTURE?.PIXELTYPE === 'SIGNEDBYTE')
  return isSigned ? 'said.source_signed_bytes' : null
}

function coloursOf({ bands }: GdalInfo): [number, number, number] {
  const find = (name: string) => bands.findIndex((band) => band.colorInterpretation === name) + 1
  const [red, green, blue] = [find('Red'), find('Green'), find('Blue')]
  if (red && green && blue) return [red, green, blue]
  const visible = bands.flatMap((band, index) => (band.colorInterpretation === 'Alpha' ? [] : [index + 1]))
  const [first = 1, second, third] = visible
  return second && third ? [first, second, third] : [first, first, first]
}

function masksOf(
  { bands, metadata }: GdalInfo,
  colours: readonly number[],
  content: Content,
): Pick<Imagery, 'masks' | 'maskedBy'> {
  const distinct = [...new Set(colours)]
  const used = distinct.map((band) => bands[band - 1]!)
  const alpha = bands.findIndex((band) => band.colorInterpretation === 'Alpha')
  const byAlpha = used.every(({ mask }) => mask?.flags.includes('ALPHA'))
  const byDeclaration = used.every(({ mask, noDataValue }) => noDataValue !== undefined || mask !== undefined)
  // Like gdalwarp: an alpha band decides even if nodata or a mask is declared too. Heights have no alpha but by mistake.
  if (alpha >= 0 && !byAlpha && !(content === 'heights' && byDeclaration)) {
    return { masks: [alpha + 1], maskedBy: bands[alpha]!.type === 'Byte' ? 'alpha' : 'presence' }
  }
  if (byDeclaration) {
    // A pixel counts if any of its bands has data: black in one band only is a colour.
    const isOne = used.every(
      ({ mask, noDataValue }) => noDataValue === undefined && mask?.flags.includes('PER_DATASET'),
    )
    return { masks: isOne ? [distinct[0]!] : distinct, maskedBy: 'mask' }
  }
  // GDAL's mask of all bands together.
  if ((metadata?.[''] as { NODATA_VALUES?: unknown } | undefined)?.NODATA_VALUES) {
    return { masks: [distinct[0]!], maskedBy: 'mask' }
  }
  const mayBeNaN = distinct.every((band) => bands[band - 1]!.type.startsWith('Float'))
  return mayBeNaN ? { masks: distinct, maskedBy: 'number' } : { masks: [], maskedBy: 'mask' }
}

function rangeOf({ bands, driverShortName }: GdalInfo, colours: readonly number[]): Imagery['range'] {
  const used = colours.map((band) => bands[band - 1]!)
  // PNG samples always fill their range (PNG specification, "sample depth scaling"). Those of a GeoTIFF are measurements.
  if (driverShortName === 'PNG' && used[0]!.type === 'UInt16') return [0, 65535]
  if (used.some((band) => band.type !== 'Byte')) return 'measured'
  const bits = Number(used[0]!.metadata?.IMAGE_STRUCTURE?.NBITS ?? 8)
  return bits < 8 ? [0, 2 ** bits - 1] : null
}
