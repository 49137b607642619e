import {
  type DrawnMarker,
  type DrawnOverlay,
  type DrawnView,
  MOST_LATITUDE,
  MOST_ZOOM,
  PICTURE_FORMATS,
  type PictureFormat,
} from '@gateway/contracts/drawing.js'
import { fittingView, partsOf } from './square.js'

/** Longest side in points. */
export const MOST_POINTS = 2048
/** Limits of a picture's overlay, more than fits into an address of the usual length. */
export const MOST_MARKERS = 100
export const MOST_PATHS = 20
const MOST_PLACES = 2_000
/** Characters of a label. */
export const MOST_LABEL = 40
/** Deepest zoom of a view that is fitted: a single place needs its surroundings. */
const MOST_FITTED_ZOOM = 16
const MOST_PITCH = 85
/** Points that a fitted view leaves around its places: a marker stands above its own. */
const INSET = 32

export interface StaticRequest {
  readonly view: DrawnView
  readonly width: number
  readonly height: number
  readonly ratio: 1 | 2
  readonly format: PictureFormat
  readonly overlay: DrawnOverlay
}

/** The part of an address that cannot be read. */
export interface StaticFault {
  readonly fault: 'address' | 'size' | 'view' | 'overlay' | 'auto'
}

type Place = readonly [longitude: number, latitude: number]

const SIZE = /^(\d{1,5})x(\d{1,5})(@2x)?\.([a-z]{3,4})$/
const NUMBER = /^-?\d{1,4}(?:\.\d{1,15})?$/
const COLOUR = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i
const NAMED_COLOUR = /^[a-z]{3,20}$/
const MARKER_COLOUR = '#d6336c'

/**
 * Reads the address of a static picture: `{lon},{lat},{zoom}[,{bearing}[,{pitch}]]`, `{minx},{miny},{maxx},{maxy}` in degrees, or `auto`, then
 * `{width}x{height}[@2x].{format}`.
 */
export function parseStatic(where: string, file: string, query: string): StaticRequest | StaticFault {
  const [, widthText = '', heightText = '', doubled, extension = ''] = SIZE.exec(file) ?? []
  const format = PICTURE_FORMATS.find((one) => one === (extension === 'jpeg' ? 'jpg' : extension))
  if (format === undefined) return { fault: 'address' }
  const [width, height] = [Number(widthText), Number(heightText)]
  if (width < 1 || height < 1 || width > MOST_POINTS || height > MOST_POINTS) return { fault: 'size' }
  const overlay = parseOverlay(new URLSearchParams(query))
  if (overlay === null) return { fault: 'overlay' }
  const places = [...overlay.markers.map(({ at }) => at), ...overlay.paths.flat()]
  if (where === 'auto' && places.length === 0) return { fault: 'auto' }
  const view = where === 'auto' ? viewOfPlaces(places, { width, height }) : parseView(where, { width, height })
  if (view === null) return { fault: 'view' }
  return { view, width, height, ratio: doubled === undefined ? 1 : 2, format, overlay }
}

function parseView(text: string, size: { width: number; height: number }): DrawnView | null {
  const parts = text.split(',')
  if (parts.length < 3 || parts.length > 5 || !parts.every((part) => NUMBER.test(part))) return null
  const numbers = parts.map(Number)
  const [a = 0, b = 0, c = 0, d = 0, pitch = 0] = numbers
  if (numbers.length === 4 && isBox(a, b, c, d)) return viewOfBox([a, b, c, d], size)
  const isView = isPlace([a, b]) && c >= 0 && c <= MOST_ZOOM && Math.abs(d) <= 360 && pitch >= 0 && pitch <= MOST_PITCH
  if (isView) return { center: [a, b], zoom: c, bearing: d, pitch }
  // A box over the 180th meridian.
  return numbers.length === 4 && a > c && isBox(a, b, c + 360, d) ? viewOfBox([a, b, c + 360, d], size) : null
}

/** True if four numbers are a box; if they could be a view with a bearing too, they are a box nevertheless. */
function isBox(west: number, south: number, east: number, north: number): boolean {
  const isInWorld = Math.abs(west) <= 180 && east - west <= 360 && Math.max(-south, north) <= MOST_LATITUDE
  return isInWorld && west < east && south < north
}

function viewOfBox(
  [west, south, east, north]: readonly [number, number, number, number],
  size: {
    width: number
    height: number
  },
): DrawnView {
  const [minX, minY] = partsOf([west, north])
  const [maxX, maxY] = partsOf([east, south])
  return fittingView([minX, minY, maxX, maxY], size, MOST_ZOOM)
}

function viewOfPlaces(places: readonly Place[], { width, height }: { width: number; height: number }): DrawnView {
  const parts = places.map(partsOf)
  const xs = parts.map(([x]) => x)
  const ys = parts.map(([, y]) => y)
  const room = { width: Math.max(1, width - 2 * INSET), height: Math.max(1, height - 2 * INSET) }
  const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const
  return fittingView(box, room, MOST_FITTED_ZOOM)
}

function parseOverlay(query: URLSearchParams): DrawnOverlay | null {
  const markers = query.getAll('marker').map(parseMarker)
  const paths = query.getAll('path').map(parsePath)
  if (markers.length > MOST_MARKERS || paths.length > MOST_PATHS || markers.includes(null) || paths.includes(null))
    return null
  return {
    markers: markers as DrawnMarker[],
    paths: paths as Place[][],
    attribution: query.get('attribution') !== 'false',
  }
}

function parseMarker(text: string): DrawnMarker | null {
  const [longitude = '', latitude = '', colour = '', ...rest] = text.split(',')
  const label = rest.join(',')
  const at = parsePlace(longitude, latitude)
  const paint = colour === '' ? MARKER_COLOUR : colourOf(colour)
  if (at === null || paint === null || [...label].length > MOST_LABEL) return null
  return { at, colour: paint, label }
}

function colourOf(text: string): string | null {
  const hex = COLOUR.exec(text)?.[1]
  if (hex !== undefined) return `#${hex}`
  return NAMED_COLOUR.test(text) ? text : null
}

function parsePath(text: string): Place[] | null {
  const places = text.split('|').map((one) => {
    const [longitude = '', latitude = '', ...more] = one.split(',')
    return more.length > 0 ? null : parsePlace(longitude, latitude)
  })
  return places.length < 2 || places.length > MOST_PLACES || places.includes(null) ? null : (places as Place[])
}

function parsePlace(longitude: string, latitude: string): Place | null {
  if (!NUMBER.test(longitude) || !NUMBER.test(latitude)) return null
  const place = [Number(longitude), Number(latitude)] as const
  return isPlace(place) ? place : null
}

function isPlace([longitude, latitude]: Place): boolean {
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= MOST_LATITUDE
}
