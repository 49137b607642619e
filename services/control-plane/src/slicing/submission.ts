import { TILE_MATRIX_SET_IDS } from '@gateway/contracts/basemap.js'
import { layerCodeOf } from '@gateway/contracts/codes.js'
import { MAX_LABEL_LENGTH } from '@gateway/contracts/common.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded, sentence } from '@gateway/contracts/messages.js'
import { SLICE_ENCODINGS, SLICE_OUTPUTS, SLICE_RESAMPLINGS } from '@gateway/contracts/slice.js'
import { isPlainPath } from '@gateway/contracts/tiling/plain-path.js'
import { MAX_ZOOM } from '@gateway/contracts/tiling/protocol.js'
import { parseLocation } from '@gateway/core/object-storage/location.js'
import type { NewSliceJob } from '@gateway/store/slice-jobs.js'
import { z } from 'zod'
import { submissionWarnings } from './warnings.js'

/** Maximum number of images. A tool for mosaics serves better for more, and the body must fit its limit too. */
const MAX_SOURCES = 5000

const path = z.string().refine((text) => isPlainPath(text) || isObject(text), sentence('said.source_path'))

/** True for an object in storage, which is fetched before GDAL reads it. */
function isObject(text: string): boolean {
  if (!text.startsWith('s3://')) return false
  const location = parseLocation(text)
  return typeof location !== 'string' && location.kind === 's3' && location.prefix !== '' && !text.endsWith('/')
}

function withoutCredentials(address: string): boolean {
  // Text that is not a URL is refused by another rule.
  if (!URL.canParse(address)) return true
  const { username, password } = new URL(address)
  return username === '' && password === ''
}

/** The body of a submission. Unknown fields are refused: most are misspelt. */
export const submissionSchema = z.strictObject({
  target_code: z
    .string()
    .max(MAX_LABEL_LENGTH)
    .describe('layer code; characters beyond ASCII are removed, and letters, digits, `.`, `-` and `_` must remain'),
  source_paths: z
    .array(path)
    .min(1)
    .max(MAX_SOURCES)
    .optional()
    .describe(
      'absolute paths of JPEG, PNG, JPEG 2000 (if GDAL reads it) or GeoTIFF files, or `s3://bucket/key` below a bucket that SLICE_SOURCE_ROOTS names',
    ),
  source_path: path.optional().describe('instead of source_paths, with a single image'),
  code: z
    .string()
    .max(MAX_LABEL_LENGTH)
    .optional()
    .describe('idempotency key: a repeated key returns the existing job; empty: no key'),
  name: z.string().max(MAX_LABEL_LENGTH).optional(),
  zoom_min: z.int().min(0).max(MAX_ZOOM).default(0),
  zoom_max: z
    .union([z.int().min(0).max(MAX_ZOOM), z.literal('native')], {
      error: sentence('said.not_failed_zoom'),
    })
    .optional()
    .describe(
      'default: zoom_min, or 0 with a warning if neither is given. `native`: the zoom nearest to the resolution of the finest image, and at ' +
        'least zoom_min',
    ),
  tile_size: z.union([z.literal(256), z.literal(512)], { error: sentence('said.tile_size') }).default(256),
  tile_format: z
    .string()
    .regex(/^[A-Za-z0-9]{1,16}$/, 'must be a format name')
    .default('webp')
    .describe('metadata only: the tiling tool chooses the real format, which the catalog lists'),
  tile_matrix_set: z
    .enum(TILE_MATRIX_SET_IDS)
    .default('WebMercatorQuad')
    .describe('the grid of the tiles: Web Mercator, or longitude and latitude of WGS 84 or CGCS2000'),
  encoding: z
    .enum(SLICE_ENCODINGS)
    .default('rgb')
    .describe(
      '`terrarium` or `mapbox`: the images are elevation models (one band of heights in metres), and the tiles hold heights without ' +
        'loss, as PNG or WebP. Pixels without a height hold height 0 and alpha 254; a newer height replaces an older one',
    ),
  resampling: z
    .enum(SLICE_RESAMPLINGS)
    .default('auto')
    .describe(
      'interpolation between the pixels of the images. `nearest` invents no colours, as maps of classes need. `auto`: `nearest` if all images ' +
        'have palettes, `cubic` for others. Heights have their own interpolation, and accept only `auto`',
    ),
  output: z
    .enum(SLICE_OUTPUTS)
    .optional()
    .describe(
      'a folder of tiles, or one PMTiles archive (Web Mercator only); default: the same as the newest version of the layer, or a folder for a ' +
        'new layer. In object storage it is always `pmtiles`',
    ),
  callback_url: z
    .union([
      z.literal(''),
      z
        .url({ protocol: /^https?$/, error: sentence('said.callback_address') })
        .max(4096)
        // No delivery sends credentials of a URL.
        .refine(withoutCredentials, sentence('said.destination_credentials')),
    ])
    .optional(),
  requested_by: z.string().max(MAX_LABEL_LENGTH).optional(),
})
export type Submission = z.output<typeof submissionSchema>

export type Checked = { readonly ok: true; readonly job: NewSliceJob } | Refusal

const BOTH = refuse('invalid_parameters', coded('slice_sources_both'))
const NEITHER = refuse('invalid_parameters', coded('slice_sources_none'))
const TARGET = refuse('invalid_parameters', coded('slice_target_code'))
const OUTPUT_GRID = refuse('invalid_parameters', coded('slice_output_grid'))
const RESAMPLING = refuse('invalid_parameters', coded('slice_resampling_heights'))
const ZOOMS = refuse('invalid_parameters', coded('slice_zooms_swapped'))

/** Checks only the form of a submission; the job itself finds out whether its images exist. Pure. */
export function checkSubmission(body: Submission): Checked {
  if (body.source_paths !== undefined && body.source_path !== undefined) {
    const same = body.source_paths.length === 1 && body.source_paths[0] === body.source_path
    if (!same) return BOTH
  }
  const sourcePaths = body.source_paths ?? (body.source_path === undefined ? [] : [body.source_path])
  if (sourcePaths.length === 0) return NEITHER
  const targetCode = layerCodeOf(body.target_code)
  if (targetCode === null) return TARGET
  const zoomMaxNative = body.zoom_max === 'native'
  const zoomMax = typeof body.zoom_max === 'number' ? body.zoom_max : body.zoom_min
  if (zoomMax < body.zoom_min) return ZOOMS
  if (body.encoding !== 'rgb' && body.resampling !== 'auto') return RESAMPLING
  if (body.output === 'pmtiles' && body.tile_matrix_set !== 'WebMercatorQuad') return OUTPUT_GRID
  return {
    ok: true,
    job: {
      code: body.code || null,
      name: body.name ?? targetCode,
      sourcePaths,
      targetCode,
      zoomMin: body.zoom_min,
      zoomMax,
      zoomMaxNative,
      tileSize: body.tile_size,
      tileFormat: body.tile_format,
      tileMatrixSet: body.tile_matrix_set,
      encoding: body.encoding,
      resampling: body.resampling,
      output: body.output ?? null,
      callbackUrl: body.callback_url ?? '',
      requestedBy: body.requested_by ?? '',
      warnings: submissionWarnings(body, sourcePaths, targetCode),
    },
  }
}
