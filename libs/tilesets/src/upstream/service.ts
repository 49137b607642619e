import type { Bounds, TileFormat, TileMatrices, TileMatrixSetId, VectorLayer } from '@gateway/contracts/basemap.js'

/** Number that a service gives a zoom, and the place of its first tile in the grid. */
export interface UpstreamLevel {
  readonly id: string
  /** column and row of the grid at which the matrix of the service begins */
  readonly column: number
  readonly row: number
}

/** How tiles of a service are asked for. Addresses contain no credential: those of the source are added to each request. */
export type UpstreamRequest =
  | {
      readonly kind: 'tiles'
      /** with `{z}`, `{x}`, `{y}`, `{-y}`, `{quadkey}` and `{s}` */
      readonly template: string
      readonly subdomains: readonly string[]
      /** by zoom; null: each zoom is its own level */
      readonly levels: readonly (UpstreamLevel | null)[] | null
      /** formats of pictures that the service names; absent: anything may come */
      readonly formats?: readonly TileFormat[]
    }
  | {
      readonly kind: 'wms'
      /** ends in `?` or `&` */
      readonly url: string
      readonly version: '1.1.1' | '1.3.0'
      readonly layers: string
      readonly styles: string
      readonly crs: string
      /** the first axis of the box is the latitude */
      readonly isLatitudeFirst: boolean
      /** media type */
      readonly format: string
      readonly transparent: boolean
      /** pixels of a side; null: not limited */
      readonly maxPixels: number | null
    }
  | {
      readonly kind: 'arcgis'
      /** ends in `/export?` or `/exportImage?` */
      readonly url: string
      readonly wkid: number
      readonly format: string
    }

/** A layer of a service that can be served. */
export interface UpstreamLayer {
  /** name in the service; '' if it has only one */
  readonly layer: string
  readonly name: string
  readonly description: string | null
  readonly attribution: string | null
  readonly bounds: Bounds | null
  readonly minZoom: number
  readonly maxZoom: number
  readonly format: TileFormat
  readonly tileSize: number
  readonly tileMatrixSet: TileMatrixSetId
  readonly tileMatrices: TileMatrices | null
  readonly vectorLayers: readonly VectorLayer[] | null
  readonly request: UpstreamRequest
}

/** The content of a service's description. */
export interface UpstreamService {
  readonly layers: readonly UpstreamLayer[]
  /** layers that cannot be served, and the reasons */
  readonly left: readonly { readonly layer: string; readonly why: LeftOut }[]
}

/** Reason for which a layer is not served: the gateway does not serve its grid or its format, or its description has no address. */
export type LeftOut = 'grid' | 'format' | 'address'

export interface ReadOptions {
  /** names of the layers that are taken; null: all */
  readonly layers: readonly string[] | null
  /** format that is asked for if the service has it */
  readonly format: TileFormat | null
  readonly tileSize: number
  readonly minZoom: number | null
  readonly maxZoom: number | null
  readonly subdomains: readonly string[]
}

/** Fetches a document of the service. Rejects if it does not exist. */
export type FetchDocument = (url: string) => Promise<{ readonly url: string; readonly text: string }>

/** The description is no description of a kind that is read. */
export class NotAService extends Error {
  override readonly name = 'NotAService'
}

const FORMATS: readonly (readonly [RegExp, TileFormat])[] = [
  [/^image\/png/i, 'png'],
  [/^image\/jpe?g/i, 'jpg'],
  [/^image\/vnd\.jpeg-png/i, 'png'],
  [/^image\/webp/i, 'webp'],
  [/^image\/avif/i, 'avif'],
  [/^application\/(?:vnd\.mapbox-vector-tile|x-protobuf)/i, 'pbf'],
]

/** Returns the format of a media type; null: none that is served. */
export function formatOfType(type: string): TileFormat | null {
  return FORMATS.find(([pattern]) => pattern.test(type.trim()))?.[1] ?? null
}

/** Returns the formats of tiles that a service may send under a media type. Some decide it tile by tile: MapProxy and GeoServer for opaque ones, Tianditu by the layer. */
export function formatsOfType(type: string): readonly TileFormat[] {
  if (/jpe?g-?png|^tiles$/i.test(type.trim())) return ['png', 'jpg']
  const format = formatOfType(type)
  return format === null ? [] : [format]
}

/** Returns the first of the media types that is of the wanted format, or the first that is served at all. */
export function chooseType(types: readonly string[], wanted: TileFormat | null) {
  const known = types.flatMap((type) => {
    const format = formatOfType(type)
    return format === null ? [] : [{ type, format }]
  })
  // `image/png` before `image/png; mode=8bit`, `image/png8` and `image/vnd.jpeg-png`.
  const ofWanted = known.filter(({ format }) => format === wanted)
  const among = ofWanted.length > 0 ? ofWanted : known
  return among.find(({ type }) => /^[a-z]+\/[a-z]+$/i.test(type)) ?? among[0] ?? null
}

export function isTaken({ layers }: ReadOptions, name: string): boolean {
  return layers === null || layers.includes(name)
}
