import { coded } from '@gateway/contracts/messages.js'
import { z } from 'zod'
import { fail, quoted } from './failure.js'

/** What is used of `gdalinfo -json`. */
export const gdalInfoSchema = z.object({
  driverShortName: z.string(),
  size: z.tuple([z.number(), z.number()]),
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
      mask: z.object({ flags: z.array(z.string()) }).optional(),
      scale: z.number().optional(),
      offset: z.number().optional(),
      colorTable: z.object({ entries: z.array(z.array(z.number())) }).optional(),
      overviews: z.array(z.object({ size: z.tuple([z.number(), z.number()]) })).optional(),
      metadata: z.object({ IMAGE_STRUCTURE: z.object({ NBITS: z.string().optional() }).optional() }).optional(),
    }),
  ),
})
export type GdalInfo = z.infer<typeof gdalInfoSchema>

/**
 * `mask`: by GDAL's mask of the band (alpha, nodata, mask bands). `alpha`: the band is an alpha of bytes that GDAL makes no mask of, as it
 * is neither the second of two bands nor the fourth of four. `presence`: the band is an alpha of wider values, whose scale is not known;
 * what is not 0 counts. `number`: what is not NaN counts; elevation models often hold NaN without declaring it.
 */
export type MaskedBy = 'mask' | 'alpha' | 'presence' | 'number'

/** How the bands of a source become red, green, blue and alpha. */
export interface Imagery {
  /** Band numbers for red, green and blue; the same one three times for grey and palettes. */
  readonly colours: readonly [number, number, number]
  /** Colours are looked up in the band's palette; with its alpha where an entry is transparent. */
  readonly palette: 'none' | 'opaque' | 'transparent'
  /** Bands that mask the pixels: one counts where any of them is set; empty: all count. */
  readonly masks: readonly number[]
  /** How they mask. */
  readonly maskedBy: MaskedBy
  /** The range that becomes 0 to 255; `measured`: to be found from the pixels of all sources; `null`: bytes as they are. */
  readonly range: readonly [number, number] | 'measured' | null
  /** Of the first band, where it declares them: value = pixel * ratio + offset. */
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

/** How to read a source, or why it cannot be shown. */
export function imageryOf(info: GdalInfo): { ok: true; imagery: Imagery } | { ok: false; reason: string } {
  const { bands } = info
  if (bands.length === 0) return { ok: false, reason: 'said.source_no_bands' }
  const colours = coloursOf(info)
  const first = bands[colours[0] - 1]!
  const strange = colours
    .map((band) => bands[band - 1]!.type)
    .find((type) => type !== 'Byte' && !MEASURED_TYPES.has(type))
  if (strange) return { ok: false, reason: `has pixels of type ${strange}, which cannot be shown as colours` }
  const entries = first.colorInterpretation === 'Palette' ? (first.colorTable?.entries ?? []) : []
  const transparent = entries.some((entry) => (entry[3] ?? 255) < 255)
  const palette = entries.length === 0 ? 'none' : transparent ? 'transparent' : 'opaque'
  return {
    ok: true,
    imagery: {
      colours,
      palette,
      ...masksOf(info, colours),
      range: palette === 'none' ? rangeOf(info, colours) : null,
      scaling:
        first.scale === undefined && first.offset === undefined
          ? null
          : { ratio: first.scale ?? 1, offset: first.offset ?? 0 },
    },
  }
}

/** Throws a `Failure` where a source is a picture rather than one band of heights. */
export function assertHeights({ path, imagery }: { readonly path: string; readonly imagery: Imagery }): void {
  const { colours, palette, maskedBy } = imagery
  if (new Set(colours).size > 1 || palette !== 'none') {
    fail(coded('slice_source_picture', { source: quoted(path) }))
  }
  if (maskedBy === 'alpha' || maskedBy === 'presence') {
    fail(coded('slice_source_alpha', { source: quoted(path) }))
  }
}

function coloursOf({ bands }: GdalInfo): [number, number, number] {
  const find = (name: string) => bands.findIndex((band) => band.colorInterpretation === name) + 1
  const [red, green, blue] = [find('Red'), find('Green'), find('Blue')]
  if (red && green && blue) return [red, green, blue]
  const visible = bands.flatMap((band, index) => (band.colorInterpretation === 'Alpha' ? [] : [index + 1]))
  const [first = 1, second, third] = visible
  return second && third ? [first, second, third] : [first, first, first]
}

function masksOf({ bands }: GdalInfo, colours: readonly number[]): Pick<Imagery, 'masks' | 'maskedBy'> {
  const masked = (band: number) => {
    const { mask, noDataValue } = bands[band - 1]!
    return (
      noDataValue !== undefined || (mask?.flags ?? []).some((flag) => ['NODATA', 'ALPHA', 'PER_DATASET'].includes(flag))
    )
  }
  // A pixel counts where any of its bands has data: black in one band alone is a colour.
  const distinct = [...new Set(colours)]
  if (distinct.every(masked)) {
    const each = distinct.some((band) => bands[band - 1]!.noDataValue !== undefined)
    return { masks: each ? distinct : [distinct[0]!], maskedBy: 'mask' }
  }
  const alpha = bands.findIndex((band) => band.colorInterpretation === 'Alpha')
  if (alpha >= 0) return { masks: [alpha + 1], maskedBy: bands[alpha]!.type === 'Byte' ? 'alpha' : 'presence' }
  const mayBeNaN = distinct.every((band) => bands[band - 1]!.type.startsWith('Float'))
  return mayBeNaN ? { masks: distinct, maskedBy: 'number' } : { masks: [], maskedBy: 'mask' }
}

function rangeOf({ bands, driverShortName }: GdalInfo, colours: readonly number[]): Imagery['range'] {
  const used = colours.map((band) => bands[band - 1]!)
  // PNG samples always fill their range (PNG specification, "sample depth scaling"); those of a GeoTIFF are measurements.
  if (driverShortName === 'PNG' && used[0]!.type === 'UInt16') return [0, 65535]
  if (used.some((band) => band.type !== 'Byte')) return 'measured'
  const bits = Number(used[0]!.metadata?.IMAGE_STRUCTURE?.NBITS ?? 8)
  return bits < 8 ? [0, 2 ** bits - 1] : null
}
