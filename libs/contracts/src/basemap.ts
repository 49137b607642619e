import { z } from 'zod'
import { codeSchema, MAX_LABEL_LENGTH, timestampSchema } from './common.js'
import { queryInstantSchema } from './instant.js'
import { sentence } from './messages.js'

export const STORAGES = [
  'xyz',
  'tms',
  'mbtiles',
  'pmtiles',
  'esri_compact',
  'esri_exploded',
  'tpkx',
  'vtpk',
  'mapproxy_tc',
  'mapproxy_mp',
  'mapproxy_arcgis',
  'quadkey',
  'zyx',
  'geopackage',
  'cog',
  'upstream',
] as const
export type Storage = (typeof STORAGES)[number]

export const TILE_FORMATS = ['png', 'jpg', 'webp', 'avif', 'pbf', 'mlt'] as const
export type TileFormat = (typeof TILE_FORMATS)[number]

/** True for vector tiles: Mapbox Vector Tiles (`pbf`) and MapLibre Tiles (`mlt`). Other formats are images. */
export function isVectorFormat(format: TileFormat): boolean {
  return format === 'pbf' || format === 'mlt'
}

/** Supported grids of tiles. */
export const TILE_MATRIX_SET_IDS = ['WebMercatorQuad', 'WorldCRS84Quad', 'CGCS2000Quad'] as const
export type KnownTileMatrixSetId = (typeof TILE_MATRIX_SET_IDS)[number]

/** EPSG codes of CGCS2000 / 3-degree Gauss-Kruger: zones 25 to 45 with the zone's number in the easting, then the central meridians 75 to 135 degrees without it. */
export const GAUSS_KRUEGER_CODES = { first: 4513, firstMeridian: 4534, last: 4554 } as const

/** The grid of a set in such a zone, which has its own origin and resolutions: the system's code, and a hash of its numbers. */
export type OwnTileMatrixSetId = `EPSG${number}_${string}`
export type TileMatrixSetId = KnownTileMatrixSetId | OwnTileMatrixSetId

/** Numbers of a grid that no standard defines. Zooms are the indexes of `resolutions`, rows are counted from the north. */
export interface TileMatrices {
  readonly crs: `EPSG:${number}`
  /** easting and northing of the corner in the north-west, metres */
  readonly origin: readonly [easting: number, northing: number]
  /** pixels of a tile's side */
  readonly tileSize: number
  /** metres for each pixel, descending */
  readonly resolutions: readonly number[]
}

const tileMatrixSetIdSchema = z
  .union([z.enum(TILE_MATRIX_SET_IDS), z.string().regex(/^EPSG\d{4}_[0-9a-f]{8}$/)])
  .describe(
    "the grid of the tiles; an id such as `EPSG4547_` and a hash is the tile set's own grid in a zone of CGCS2000 / 3-degree Gauss-Kruger, " +
      'which WMTS and OGC API - Tiles define',
  )

/** Systems into which coordinates of tiles are shifted: GCJ-02, in which maps of China are published. It is only a label; nothing is shifted here. */
export const COORDINATE_OFFSETS = ['gcj02'] as const
export type CoordinateOffset = (typeof COORDINATE_OFFSETS)[number]
const coordinateOffsetSchema = z
  .enum(COORDINATE_OFFSETS)
  .describe('the tiles lie where GCJ-02 shifts them to; a label for clients: the gateway shifts nothing')

/** Alias of a basemap's default version in URLs. No version has this label. */
export const CURRENT_VERSION = 'current'

/** The label of a version that a client names. */
export const newVersionSchema = codeSchema.refine((label) => label !== CURRENT_VERSION, sentence('said.own_version'))

/** WGS 84 west, south, east, north, in degrees. If west is greater than east, the box crosses the antimeridian (RFC 7946, 5.2). */
export const boundsSchema = z.tuple([z.number(), z.number(), z.number(), z.number()]).meta({
  description:
    'west, south, east, north in degrees; if west is above east, the area crosses the antimeridian (RFC 7946, 5.2)',
  // JSON Schema needs neither for a tuple, but generators and linters without support of `prefixItems` do.
  items: { type: 'number' },
  minItems: 4,
  maxItems: 4,
})
export type Bounds = z.infer<typeof boundsSchema>

/** Limits of longitudes that are degrees at all: a turn beyond either end of the world. */
const MAX_TURNED = 540
/** Degrees beyond the 180th meridian that are rounding or half a pixel, and no part of a set that lies on its other side. */
const OVERHANG = 0.01

/**
 * Returns longitudes within ±180 for those beyond: 170 to 190 is 170 to -170, which crosses the antimeridian as RFC 7946, 5.2 has it. A full turn
 * or more is the world. null: they are no degrees.
 */
export function wrappedLongitudes(west: number, east: number): readonly [west: number, east: number] | null {
  if (Math.abs(west) <= 180 && Math.abs(east) <= 180) return [west, east]
  if (!(Math.abs(west) <= MAX_TURNED && Math.abs(east) <= MAX_TURNED)) return null
  if (east - west >= 360) return [-180, 180]
  const [from, to] = [snapped(west), snapped(east)]
  if (from >= to) return null
  const turn = (longitude: number) => longitude - 360 * Math.floor((longitude + 180) / 360)
  const last = turn(to)
  return [rounded(turn(from)), last === -180 ? 180 : rounded(last)]
}

/** Returns a box with longitudes from -180 to 180, and west above east if it crosses the antimeridian. */
export function onOneTurn(bounds: Bounds): Bounds {
  const [west, south, east, north] = bounds
  if (Math.abs(west) <= 180 && Math.abs(east) <= 180) return bounds
  const turns = 360 * Math.floor((west + 180) / 360)
  const last = west < east ? east : east + 360 * Math.ceil((west - east) / 360)
  const [from, to] = wrappedLongitudes(west - turns, last - turns) ?? [west, east]
  return [from, south, to, north]
}

function snapped(longitude: number): number {
  return Math.abs(longitude) > 180 && Math.abs(longitude) < 180 + OVERHANG ? Math.sign(longitude) * 180 : longitude
}

/** Removes the noise of the subtraction. */
function rounded(longitude: number): number {
  return Number(longitude.toFixed(12))
}

/** A layer of a vector tile set, in the form of TileJSON 3.0. */
export const vectorLayerSchema = z.looseObject({
  id: z.string(),
  fields: z.record(z.string(), z.string()).optional(),
})
export type VectorLayer = z.infer<typeof vectorLayerSchema>

export const basemapVersionSchema = z.object({
  version: z.string(),
  storage: z.enum(STORAGES),
  format: z.enum(TILE_FORMATS),
  formats: z
    .array(z.enum(TILE_FORMATS))
    .optional()
    .describe(
      'the formats of a set of several image formats, the most frequent one first; absent for others. Each of its tiles is served at the ' +
        'extension of either format, with its own `Content-Type`',
    ),
  tile_size: z.int(),
  min_zoom: z.int(),
  max_zoom: z.int(),
  bounds: boundsSchema.nullable(),
  tile_matrix_set: tileMatrixSetIdSchema,
  crs: z.string().describe('the coordinate system of that grid, for example `EPSG:3857`'),
  coordinate_offset: coordinateOffsetSchema.nullable(),
  revision: z
    .int()
    .min(1)
    .describe(
      'increases whenever the content may have changed (sliced into, imported again, found changed by a scan). TileJSON puts it into tile ' +
        'addresses as `v`, so that caches do not serve older content',
    ),
  available: z.boolean(),
  scanned_at: timestampSchema.describe(
    'time at which a scan, an import or a slice job last found it new, changed, missing or back',
  ),
})
export type BasemapVersion = z.infer<typeof basemapVersionSchema>

export const withdrawnSchema = z
  .boolean()
  .describe('an operator has withdrawn it from readers: it is neither served nor listed, whatever scans find')
/** Additional fields of a basemap or vector for administrators. */
export const withdrawableFields = {
  withdrawn: withdrawnSchema,
  source_enabled: z
    .boolean()
    .describe('false: its scan source is disabled, and nothing of that source is served or listed'),
} as const

export const CACHE_POLICIES = ['interface', 'private', 'shared'] as const
export type CachePolicy = (typeof CACHE_POLICIES)[number]
const cachePolicySchema = z
  .enum(CACHE_POLICIES)
  .describe(
    'who may keep tiles: `interface`: the defaults of the interface and TILE_CACHE_CONTROL apply; `private`: only browsers; `shared`: also ' +
      'caches in front, for `s_maxage`',
  )
const sharedMaxAgeSchema = z
  .int()
  .min(0)
  .max(31_536_000)
  .describe('seconds for which shared caches may keep a tile; only with `shared`')

/** Order of rows: `xyz` counts from the north, `tms` from the south. */
export const ROW_ORDERS = ['xyz', 'tms'] as const
export type RowOrder = (typeof ROW_ORDERS)[number]

/** Maximum characters of texts by operators. Every TileJSON document contains the attribution. */
const MAX_TEXT_LENGTH = 10_000
const MAX_TAGS = 50
const MAX_ZOOM = 30

// Postgres cannot store NUL.
const text = (limit: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(limit)
    .regex(/^[^\0]*$/, sentence('said.no_nul'))

const overridable = {
  storage: z
    .enum(ROW_ORDERS)
    .describe(
      'direction in which the rows of a folder, MBTiles archive or MapProxy layout are counted: `xyz` from the north, `tms` from the south',
    ),
  tile_matrix_set: z.enum(TILE_MATRIX_SET_IDS).describe('the grid of the tiles'),
  format: z.enum(TILE_FORMATS).describe('the format of the tiles; their files keep their names'),
  bounds: boundsSchema
    .overwrite(onOneTurn)
    .refine(
      ([west, south, east, north]) =>
        Math.abs(west) <= 180 && Math.abs(east) <= 180 && west !== east && south >= -90 && north <= 90 && south < north,
      { error: sentence('said.bounds') },
    ),
  min_zoom: z.int().min(0).max(MAX_ZOOM),
  max_zoom: z.int().min(0).max(MAX_ZOOM),
  name: text(MAX_LABEL_LENGTH).describe('the title of this version in TileJSON, WMTS and the other services'),
  attribution: text(MAX_TEXT_LENGTH),
  coordinate_offset: coordinateOffsetSchema,
}
export const OVERRIDABLE = Object.keys(overridable) as (keyof VersionOverrides)[]

export const versionOverridesSchema = z
  .object(overridable)
  .partial()
  .describe(
    'values that an operator has set in place of those that the scan found; an absent field has the value of the scan',
  )
export type VersionOverrides = z.infer<typeof versionOverridesSchema>

/** The values of the scan for fields that may be overridden. */
const scannedValuesSchema = z
  .object({
    storage: z
      .enum(ROW_ORDERS)
      .nullable()
      .describe('`null`: the format of the tile set defines the direction (PMTiles and others)'),
    tile_matrix_set: tileMatrixSetIdSchema,
    format: z.enum(TILE_FORMATS),
    bounds: boundsSchema.nullable(),
    min_zoom: z.int(),
    max_zoom: z.int(),
    name: z.string().nullable(),
    attribution: z.string().nullable(),
    coordinate_offset: coordinateOffsetSchema.nullable(),
  })
  .describe('the fields that may be overridden, with the values of the scan; `null`: the scan found no value')
export type ScannedValues = z.infer<typeof scannedValuesSchema>

const nullable = <T extends z.ZodType>(schema: T) => schema.nullable().optional()

export const versionPatchSchema = z
  .strictObject({
    withdrawn: withdrawnSchema.optional(),
    storage: nullable(overridable.storage),
    tile_matrix_set: nullable(overridable.tile_matrix_set),
    format: nullable(overridable.format),
    bounds: nullable(overridable.bounds),
    min_zoom: nullable(overridable.min_zoom),
    max_zoom: nullable(overridable.max_zoom),
    name: nullable(overridable.name),
    attribution: nullable(overridable.attribution),
    coordinate_offset: nullable(overridable.coordinate_offset),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: sentence('said.nothing_to_change'),
  })

export const basemapPatchSchema = z
  .strictObject({
    withdrawn: withdrawnSchema.optional(),
    cache_policy: cachePolicySchema.optional(),
    s_maxage: sharedMaxAgeSchema.optional().describe('with `shared`, which requires it'),
    name: nullable(text(MAX_LABEL_LENGTH)).describe('replaces the name of the scan; `null` returns to that name'),
    description: nullable(text(MAX_TEXT_LENGTH)).describe('for operators; `null`: no text'),
    tags: z
      .array(text(MAX_LABEL_LENGTH))
      .max(MAX_TAGS)
      .transform((tags) => [...new Set(tags)])
      .optional(),
    owner: nullable(text(MAX_LABEL_LENGTH)).describe('the person or team responsible for the basemap; `null`: nobody'),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: sentence('said.nothing_to_change'),
  })
  .refine((body) => (body.cache_policy === 'shared') === (body.s_maxage !== undefined), {
    error: sentence('said.cache_policy'),
  })

export const rejectionBodySchema = z.strictObject({ reason: text(MAX_TEXT_LENGTH) })

export const adminBasemapVersionSchema = basemapVersionSchema.extend({
  path: z.string(),
  withdrawn: withdrawnSchema,
  held: z
    .boolean()
    .describe(
      'it was found in a source with `publish: approval` and waits for the approval; until then it is also withdrawn',
    ),
  rejected_reason: z.string().nullable().describe('why an operator rejected it; `null`: it was not rejected'),
  overrides: versionOverridesSchema,
  scanned: scannedValuesSchema,
})
/** A version in the list of all versions. */
export const listedVersionSchema = adminBasemapVersionSchema.extend({ basemap_code: z.string() })
export type AdminBasemapVersion = z.infer<typeof adminBasemapVersionSchema>

export const basemapSchema = z.object({
  code: z.string(),
  name: z.string(),
  default_version: z
    .string()
    .nullable()
    .describe(
      'the version that `current` means: the one that an operator set, or the highest that is available and not withdrawn, if none is set or ' +
        'it is withdrawn',
    ),
  versions: z.array(basemapVersionSchema),
  url_template: z.string(),
  source_code: z.string(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
})
export type Basemap = z.infer<typeof basemapSchema>

/** The failures of requests to a service. */
export const upstreamStateSchema = z
  .object({
    state: z
      .enum(['open', 'closed'])
      .describe('`open`: it has failed five times in a row, and is asked by one request every 10 s'),
    failures: z.int().describe('failures in a row'),
    message: z.string().describe('the last failure; empty after a success'),
  })
  .describe('only of a basemap whose tiles are those of a service')

export const adminBasemapSchema = basemapSchema.extend({
  upstream: upstreamStateSchema.optional(),
  versions: z.array(adminBasemapVersionSchema),
  ...withdrawableFields,
  cache_policy: cachePolicySchema,
  s_maxage: sharedMaxAgeSchema.nullable(),
  scanned_name: z.string().describe('the name that the scan found; if an operator has set another one, `name` has it'),
  description: z.string().nullable().describe('set by an operator'),
  tags: z.array(z.string()).describe('set by an operator'),
  owner: z.string().nullable().describe('the responsible person or team, set by an operator'),
})
/** A basemap in the list for administrators. */
export const listedBasemapSchema = adminBasemapSchema.extend({
  requests_per_day: z
    .number()
    .min(0)
    .describe('mean number of requests a day for its tiles and documents, over the last 7 days'),
})
export type ListedBasemap = z.infer<typeof listedBasemapSchema>
export type AdminBasemap = z.infer<typeof adminBasemapSchema>

/** Maximum minutes of a canary: a week. */
const MAX_CANARY_MINUTES = 10_080

const canarySchema = z.strictObject({
  percent: z.int().min(1).max(99).describe('percentage of the tokens, always the same ones'),
  minutes: z
    .number()
    .positive()
    .max(MAX_CANARY_MINUTES)
    .describe('duration in minutes; then the version becomes the default for all'),
})

export const defaultVersionBodySchema = z.strictObject({
  version: z.string().min(1),
  at: queryInstantSchema.optional().describe('when it becomes the default; UTC if it has no zone; default: now'),
  canary: canarySchema.optional().describe('a share of the tokens gets it first; default: all get it at once'),
})

const canaryCountsSchema = z.object({
  requests: z.int().describe('requests for its tiles'),
  missing: z.int().describe('requests that returned 404'),
  failed: z.int().describe('requests that returned 5xx'),
})

export const SWITCH_STATUSES = ['pending', 'canary', 'done', 'failed', 'cancelled', 'rolled_back'] as const
export const defaultSwitchSchema = z.object({
  id: z.uuid(),
  version: z.string().describe('the version that becomes the default'),
  at: timestampSchema.describe('when it becomes the default, or when its canary begins'),
  status: z.enum(SWITCH_STATUSES).describe('`canary`: a share of the tokens has the version now'),
  canary: canarySchema
    .extend({
      started_at: timestampSchema.nullable(),
      ends_at: timestampSchema.nullable().describe('when the version becomes the default, unless it is worse'),
      before_version: z.string().nullable().describe('the default when the switch began'),
      before: canaryCountsSchema.describe('responses of the edges for the previous version'),
      after: canaryCountsSchema.describe('responses of the edges for the new version, in the same minutes'),
    })
    .nullable(),
  ended_at: timestampSchema.nullable(),
  created_by: z.string(),
  created_at: timestampSchema,
})
/** The response to a switch of the default version. */
export const switchedBasemapSchema = adminBasemapSchema.extend({
  pending_switch: defaultSwitchSchema
    .nullable()
    .describe('the switch that has not happened yet; `null`: no switch is pending'),
})

/** The versions that were the default, newest first, and the planned switches. */
export const defaultHistorySchema = z.object({
  items: z.array(
    z.object({
      version: z.string().nullable().describe('`null`: the basemap had no default'),
      since: timestampSchema,
      until: timestampSchema.nullable().describe('`null`: it is the default now'),
    }),
  ),
  switches: z.array(defaultSwitchSchema).describe('planned switches and canaries, newest first'),
})

/** Maximum degrees of WGS 84: a longitude may be one turn further, as maps that repeat the world send it. */
export const [MAX_LONGITUDE, MAX_LATITUDE] = [540, 90]

/** An area that limits readable data: WGS 84, south below north. If west is greater than east, it crosses the antimeridian. */
export const areaSchema = boundsSchema
  .refine(
    ([west, south, east, north]) =>
      Math.max(Math.abs(west), Math.abs(east)) <= MAX_LONGITUDE &&
      Math.max(Math.abs(south), Math.abs(north)) <= MAX_LATITUDE &&
      south < north &&
      west !== east,
    { error: sentence('said.bounds_wgs84') },
  )
  .overwrite(onOneTurn)
