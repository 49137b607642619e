import { boundsSchema, TILE_MATRIX_SET_IDS } from '@gateway/contracts/basemap.js'
import { messageParamsSchema } from '@gateway/contracts/messages.js'
import { z } from 'zod'
import { isPlainPath } from './plain-path.js'

/**
 * The protocol between the control plane and a tiling tool: one JSON request on the tool's stdin, JSON lines on its
 * stdout, a log for people on its stderr. Exit code 0 goes with `ok: true` and with nothing else.
 */

/** Limit: a tile at zoom 24 is 2.4 m wide; deeper ones would outgrow 32-bit tile arithmetic long before they show more. */
export const MAX_ZOOM = 24

/** Limit: bytes of the request on stdin; ten thousand long paths fit. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024

/** Beside the zoom folders; the catalog reads the same file. Written last, so it also marks a staged layer as complete. */
export const METADATA_FILE = 'metadata.json'

export const REAL_TILE_FORMATS = ['webp', 'png', 'avif'] as const
/** What tiles are written as. JPEG is not among them: it cannot hold the transparency that merging rests on. */
export type RealTileFormat = (typeof REAL_TILE_FORMATS)[number]

export const HEIGHT_ENCODINGS = ['terrarium', 'mapbox'] as const
/** How heights are told in red, green and blue: https://github.com/tilezen/joerd/blob/master/docs/formats.md, and Mapbox Terrain-RGB v1. */
export type HeightEncoding = (typeof HEIGHT_ENCODINGS)[number]

export const ENGINES = ['gdal', 'wasm'] as const
export type EngineName = (typeof ENGINES)[number]

const absolutePath = z.string().refine(isPlainPath, 'must be an absolute path of a plain file')
const positive = z.number().positive()

export const limitsSchema = z.strictObject({
  /** Pixels of all sources together, from their headers. */
  max_pixels: positive,
  /** Tiles of all zooms together, from the sources' bounds. */
  max_tiles: positive,
  timeout_seconds: positive,
  /** Seconds in which a helper program may be silent before it counts as stuck. */
  idle_timeout_seconds: positive,
  /** Memory of one helper program, in MiB. */
  memory_mb: positive,
})
export type Limits = z.infer<typeof limitsSchema>

/** Limits for a caller with no better ones: a 100-gigapixel mosaic over a night, on a small machine. */
export const DEFAULT_LIMITS: Limits = {
  max_pixels: 100e9,
  max_tiles: 20e6,
  timeout_seconds: 24 * 3600,
  idle_timeout_seconds: 600,
  memory_mb: 2048,
}

export const tilingRequestSchema = z
  .strictObject({
    /** `accumulate` merges with the tiles of `layer_dir`; `mosaic` builds a layer of its own. */
    mode: z.enum(['accumulate', 'mosaic']),
    source_paths: z.array(absolutePath).min(1),
    /**
     * Directories that every source must lie in, by their configured and by their real names; absent or empty: no such rule. A source
     * that lies outside, or leads there, is refused before it is opened, for a reason that does not reveal whether it exists.
     */
    source_roots: z.array(absolutePath).optional(),
    /** The served layer; only read, and only in mode `accumulate`. It may not exist yet. */
    layer_dir: absolutePath.optional(),
    /** Where new tiles go: absent or empty, on the file system of `layer_dir`. The caller removes it after a failure. */
    staging_dir: absolutePath,
    /**
     * Lets the tool go on after it was ended: `dir` is where it notes what is finished, and the same `dir` and `staging_dir` are given to the
     * next run. `source_tags` names the content of sources that are not known by their times, in the order of `source_paths`. Absent: a run
     * begins with an empty staging folder. An operator's own tool is not given it.
     */
    resume: z.strictObject({ dir: absolutePath, source_tags: z.array(z.string().nullable()).optional() }).optional(),
    /** Scratch space; a folder in it is made and removed again. */
    temp_dir: absolutePath,
    zoom_min: z.int().min(0).max(MAX_ZOOM),
    /** `native`: the zoom nearest to the resolution of the finest source, and at least `zoom_min`. */
    zoom_max: z.union([z.int().min(0).max(MAX_ZOOM), z.literal('native')]),
    tile_size: z.union([z.literal(256), z.literal(512)]),
    tile_format: z.enum(['webp', 'png', 'jpg', 'avif']),
    /** The grid of the tiles; absent: WebMercatorQuad. */
    tile_matrix_set: z.enum(TILE_MATRIX_SET_IDS).optional(),
    /** The sources are heights in metres, and tiles hold them in this encoding, without loss; absent: they are pictures. */
    encoding: z.enum(HEIGHT_ENCODINGS).optional(),
    engine: z.enum(['auto', ...ENGINES]),
    limits: limitsSchema,
    /** Stop after the plan; nothing is written. */
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
  /** At most so many tiles will be written. */
  tiles: z.number(),
  /** Bytes that many tiles of this format usually take. */
  bytes_estimate: z.number(),
  /** The most scratch space in use at one time. */
  temp_bytes_estimate: z.number(),
  bounds: boundsSchema,
  min_zoom: zoom,
  max_zoom: zoom,
  engine: z.enum(ENGINES),
  /** The zoom nearest to the resolution of the finest source. */
  native_zoom: zoom.optional(),
  /** Bytes of them that an earlier run, which was ended, has written already. */
  bytes_kept: z.number().optional(),
})
export type PlanLine = z.infer<typeof planLineSchema>

export const progressLineSchema = z.object({
  type: z.literal('progress'),
  percent: z.number().min(0).max(100),
  phase: z.enum(PHASES),
})
export type ProgressLine = z.infer<typeof progressLineSchema>

/** Bounds, zooms, format and tile size are those of the layer once the staged tiles are published. */
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
  /** Words for the person who submitted the job. */
  reason: z.string(),
  /** What the words are made from, if they have a code (`MESSAGES` in the contracts). */
  message_code: z.string().optional(),
  message_params: messageParamsSchema.optional(),
})

export const resultLineSchema = z.union([successLineSchema, failureLineSchema])
export type SuccessLine = z.infer<typeof successLineSchema>
export type ResultLine = z.infer<typeof resultLineSchema>

export const outputLineSchema = z.union([planLineSchema, progressLineSchema, resultLineSchema])
export type OutputLine = z.infer<typeof outputLineSchema>
