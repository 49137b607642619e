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
/** The names of colours in CSS Color 4. */
const NAMED_COLOURS: ReadonlySet<string> = new Set(
  (
    'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood ' +
    'cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod ' +
    'darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon ' +
    'darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray ' +
    'dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green ' +
    'greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon ' +
    'lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon ' +
    'lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen ' +
    'magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue ' +
    'mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy ' +
    'oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip ' +
    'peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown ' +
    'seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal ' +
    'thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen'
  ).split(' '),
)
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
  const isInWorld = Math.abs(west) <= 180 && east - west <= 360 && Math.max(-south, north) <= 90
  return isInWorld && west < east && south < north
}

function viewOfBox(
  [west, south, east, north]: readonly [number, number, number, number],
  size: {
    width: number
    height: number
  },
): DrawnView {
  const [minX, minY] = partsOf([west, Math.min(north, MOST_LATITUDE)])
  const [maxX, maxY] = partsOf([east, Math.max(south, -MOST_LATITUDE)])
  return fittingView([minX, minY, maxX, maxY], size, MOST_ZOOM)
}

function viewOfPlaces(places: readonly Place[], { width, height }: { width: number; height: number }): DrawnView {
  const parts = places.map(partsOf)
  const xs = onShortSide(parts.map(([x]) => x))
  const ys = parts.map(([, y]) => y)
  const room = { width: Math.max(1, width - 2 * INSET), height: Math.max(1, height - 2 * INSET) }
  const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const
  return fittingView(box, room, MOST_FITTED_ZOOM)
}

/** Moves the western ones of some places by one world if they are closer to each other over the 180th meridian. */
function onShortSide(xs: readonly number[]): readonly number[] {
  const sorted = xs.toSorted((a, b) => a - b)
  const [first = 0] = sorted
  const gaps = sorted.map((x, i) => ({ from: x, width: (sorted[i + 1] ?? first + 1) - x }))
  const widest = gaps.reduce((most, gap) => (gap.width > most.width ? gap : most))
  return xs.map((x) => (x <= widest.from && widest.from < Math.max(...xs) ? x + 1 : x))
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
  return NAMED_COLOURS.has(text.toLowerCase()) ? text.toLowerCase() : null
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
