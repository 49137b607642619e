import { boundsSchema, TILE_MATRIX_SET_IDS } from '@gateway/contracts/basemap.js'
import { messageParamsSchema } from '@gateway/contracts/messages.js'
import { z } from 'zod'
import { isPlainPath } from './plain-path.js'

/**
 * The protocol between the control plane and a tiling tool: one JSON request on the tool's stdin, JSON lines on its
 * stdout, and a log for people on its stderr. The exit code is 0 exactly if the result is `ok: true`.
 */

/** Maximum zoom. A tile at zoom 24 is 2.4 m wide; deeper zooms would exceed 32-bit tile arithmetic without showing more. */
export const MAX_ZOOM = 24

/** Maximum bytes of the request on stdin; ten thousand long paths fit. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024

/** Metadata file next to the zoom folders, which the catalog reads too. It is written last, so it also marks a staged layer as complete. */
export const METADATA_FILE = 'metadata.json'

export const REAL_TILE_FORMATS = ['webp', 'png', 'avif'] as const
/** Formats of written tiles. JPEG is excluded: it lacks the transparency that merging needs. */
export type RealTileFormat = (typeof REAL_TILE_FORMATS)[number]

export const HEIGHT_ENCODINGS = ['terrarium', 'mapbox'] as const
/** Encodings of elevations in red, green and blue: https://github.com/tilezen/joerd/blob/master/docs/formats.md, and Mapbox Terrain-RGB v1. */
export type HeightEncoding = (typeof HEIGHT_ENCODINGS)[number]

export const RESAMPLINGS = ['nearest', 'bilinear', 'cubic'] as const
/** Interpolation between the pixels of an image. `nearest` keeps the colours of classes as they are. */
export type Resampling = (typeof RESAMPLINGS)[number]

export const ENGINES = ['gdal', 'wasm'] as const
export type EngineName = (typeof ENGINES)[number]

const absolutePath = z.string().refine(isPlainPath, 'must be an absolute path of a plain file')
const positive = z.number().positive()

export const limitsSchema = z.strictObject({
  /** total pixels of all sources, from their headers */
  max_pixels: positive,
  /** total tiles of all zooms, from the sources' bounds */
  max_tiles: positive,
  timeout_seconds: positive,
  /** seconds without output after which a helper program counts as stuck */
  idle_timeout_seconds: positive,
  /** memory of one helper program, in MiB */
  memory_mb: positive,
})
export type Limits = z.infer<typeof limitsSchema>

/** Default limits: a 100-gigapixel mosaic in a night, on a small machine. */
export const DEFAULT_LIMITS: Limits = {
  max_pixels: 100e9,
  max_tiles: 20e6,
  timeout_seconds: 24 * 3600,
  idle_timeout_seconds: 600,
  memory_mb: 2048,
}

export const tilingRequestSchema = z
  .strictObject({
    /** `accumulate` merges with the tiles of `layer_dir`; `mosaic` builds a new layer. */
    mode: z.enum(['accumulate', 'mosaic']),
    source_paths: z.array(absolutePath).min(1),
    /**
     * Directories that must contain every source, by their configured and real names; absent or empty: no restriction. A source
     * outside of them, or that leads there, is refused before it is opened, for a reason that does not reveal whether it exists.
     */
    source_roots: z.array(absolutePath).optional(),
    /** The served layer. It is only read, and only in mode `accumulate`. It may not exist yet. */
    layer_dir: absolutePath.optional(),
    /** Folder of new tiles: absent or empty, on the file system of `layer_dir`. The caller removes it after a failure. */
    staging_dir: absolutePath,
    /**
     * Lets an interrupted tool resume: it records finished work in `dir`, and the next run gets the same `dir` and `staging_dir`. `source_tags`
     * identifies the content of sources that their times do not identify, in the order of `source_paths`. If absent, a run begins with an empty
     * staging folder. An operator's own tool does not get this field.
     */
    resume: z.strictObject({ dir: absolutePath, source_tags: z.array(z.string().nullable()).optional() }).optional(),
    /** Scratch space; a folder in it is made and removed again. */
    temp_dir: absolutePath,
    zoom_min: z.int().min(0).max(MAX_ZOOM),
    /** `native`: the zoom nearest to the resolution of the finest source, and at least `zoom_min`. */
    zoom_max: z.union([z.int().min(0).max(MAX_ZOOM), z.literal('native')]),
    tile_size: z.union([z.literal(256), z.literal(512)]),
    tile_format: z.enum(['webp', 'png', 'jpg', 'avif']),
    /** The grid of the tiles; default: WebMercatorQuad. */
    tile_matrix_set: z.enum(TILE_MATRIX_SET_IDS).optional(),
    /** Encoding of sources that are elevations in metres, written without loss; absent: they are images. */
    encoding: z.enum(HEIGHT_ENCODINGS).optional(),
    /** Interpolation of images; absent: `nearest` if all sources have palettes, otherwise `cubic`. Elevations are interpolated as such. */
    resampling: z.enum(RESAMPLINGS).optional(),
    engine: z.enum(['auto', ...ENGINES]),
    limits: limitsSchema,
    /** Stop after the plan, without writing anything. */
    estimate_only: z.boolean().optional(),
  })
  .refine(
    ({ zoom_min, zoom_max }) => zoom_max === 'native' || zoom_min <= zoom_max,
    'zoom_min is greater than zoom_max',
  )
export type TilingRequest = z.infer<typeof tilingRequestSchema>

export const PHASES = ['probing', 'tiling', 'finishing'] as const
export type Phase = (typeof PHASES)[number]

const zoom = z.int().min(0).max(MAX_ZOOM)

export const planLineSchema = z.object({
  type: z.literal('plan'),
  /** Maximum number of written tiles. */
  tiles: z.number(),
  /** Usual bytes of that many tiles in this format. */
  bytes_estimate: z.number(),
  /** Maximum scratch space in use at one time. */
  temp_bytes_estimate: z.number(),
  bounds: boundsSchema,
  min_zoom: zoom,
  max_zoom: zoom,
  engine: z.enum(ENGINES),
  /** The zoom nearest to the resolution of the finest source. */
  native_zoom: zoom.optional(),
  /** Bytes of the tiles that an earlier, killed run has already written. */
  bytes_kept: z.number().optional(),
})
export type PlanLine = z.infer<typeof planLineSchema>

export const progressLineSchema = z.object({
  type: z.literal('progress'),
  percent: z.number().min(0).max(100),
  phase: z.enum(PHASES),
})

/** Bounds, zooms, format and tile size of the layer after the staged tiles are published. */
export const successLineSchema = z.object({
  type: z.literal('result'),
  ok: z.literal(true),
  tiles_written: z.number(),
  bounds: boundsSchema,
  min_zoom: zoom,
  max_zoom: zoom,
  format: z.enum(REAL_TILE_FORMATS),
  tile_size: z.int(),
})

export const failureLineSchema = z.object({
  type: z.literal('result'),
  ok: z.literal(false),
  /** Message for the submitter. */
  reason: z.string(),
  /** Code and parameters of the message, if it has a code (`MESSAGES` in the contracts). */
  message_code: z.string().optional(),
  message_params: messageParamsSchema.optional(),
})

export const resultLineSchema = z.union([successLineSchema, failureLineSchema])
export type SuccessLine = z.infer<typeof successLineSchema>
export type ResultLine = z.infer<typeof resultLineSchema>

export const outputLineSchema = z.union([planLineSchema, progressLineSchema, resultLineSchema])
export type OutputLine = z.infer<typeof outputLineSchema>
