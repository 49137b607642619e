import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bounds, boundsSchema, TILE_MATRIX_SET_IDS } from '@gateway/contracts/basemap.js'
import { coded } from '@gateway/contracts/messages.js'
import { HEIGHT_ENCODINGS, MAX_ZOOM, METADATA_FILE, REAL_TILE_FORMATS } from '@gateway/contracts/tiling/protocol.js'
import sharp from 'sharp'
import { z } from 'zod'
import { Failure, fail, quoted } from './failure.js'
import { MAX_LATITUDE } from './mercator.js'
import type { PixelModel } from './pixel-model.js'
import type { Pixels } from './pixels.js'

/** A layer's metadata. Further fields, such as an operator's name or attribution, are kept. */
const layerMetadataSchema = z.looseObject({
  format: z.enum(REAL_TILE_FORMATS),
  tile_size: z.int(),
  minzoom: z.int().min(0).max(MAX_ZOOM),
  maxzoom: z.int().min(0).max(MAX_ZOOM),
  bounds: boundsSchema,
  /** default: WebMercatorQuad */
  tile_matrix_set: z.enum(TILE_MATRIX_SET_IDS).optional(),
  crs: z.string().optional(),
  /** encoding of elevations; absent: images */
  encoding: z.enum(HEIGHT_ENCODINGS).optional(),
  /** values of non-byte sources that became 0 and 255; later sources use the same scale */
  value_range: z.tuple([z.number(), z.number()]).optional(),
})
export type LayerMetadata = z.infer<typeof layerMetadataSchema>

const WORLD: Bounds = [-180, -MAX_LATITUDE, 180, MAX_LATITUDE]

/** Reads the metadata of a layer in a folder; `null` if the folder has no metadata yet. Throws a `Failure` if it cannot be merged with. */
export async function readLayer(folder: string): Promise<LayerMetadata | null> {
  const text = await readFile(join(folder, METADATA_FILE), 'utf8').catch(absent)
  if (text !== null) {
    const parsed = layerMetadataSchema.safeParse(jsonOf(text))
    if (parsed.success) return parsed.data
  }
  const zooms = await numbersIn(folder)
  return zooms.length === 0 ? null : examine(folder, zooms)
}

/** A layer without metadata is examined by its tiles. */
async function examine(folder: string, zooms: readonly number[]): Promise<LayerMetadata | null> {
  const zoom = join(folder, String(zooms[0]))
  const column = join(zoom, String((await numbersIn(zoom))[0] ?? 0))
  const tile = (await readdir(column).catch(absent))?.find((name) => /^\d+\.[a-z]+$/.test(name))
  if (!tile) return null
  const extension = tile.split('.')[1]!
  const format = REAL_TILE_FORMATS.find((each) => each === extension)
  if (!format) fail(coded('slice_layer_of_other_tiles', { format: extension }))
  const { width } = await sharp(join(column, tile)).metadata()
  return { format, tile_size: width, minzoom: zooms[0]!, maxzoom: zooms.at(-1)!, bounds: WORLD }
}

/** Returns a reader of the layer's tiles. It returns `null` for an absent tile and, with a warning, for an unreadable one. */
export function tileReader(
  folder: string,
  { format, tile_size }: LayerMetadata,
  model: PixelModel,
  warn: (message: string) => void,
) {
  return async (zoom: number, x: number, y: number): Promise<Pixels | null> => {
    const file = join(folder, String(zoom), String(x), `${y}.${format}`)
    const content = await readFile(file).catch(absent)
    if (content === null) return null
    try {
      return await model.decode(content, tile_size)
    } catch {
      warn(`the tile ${quoted(file)} is damaged and will be replaced`)
      return null
    }
  }
}

export type TileReader = ReturnType<typeof tileReader>

async function numbersIn(folder: string): Promise<number[]> {
  const names = (await readdir(folder).catch(absent)) ?? []
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function absent(error: unknown): null {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT' || code === 'ENOTDIR') return null
  throw new Failure(coded('slice_layer_unreadable'))
}
