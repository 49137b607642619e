import type { TilePlace } from '../source.js'
import { matrixSetOf, type TileMatrixSet } from '../tile-matrix-sets.js'
import type { UpstreamLayer, UpstreamRequest } from './service.js'

/** Pixels around a square of tiles, so that what crosses its edge is drawn as in its neighbours. */
export const MARGIN = 64

/** Parameters of the protocols, which belong to a request and not to the access to a service. */
export const PROTOCOL = new Set(
  'service request version format f layers layer styles style bbox width height srs crs tilematrix tilematrixset tilerow tilecol transparent'.split(
    ' ',
  ),
)
/** Characters of a secret that is looked for in addresses; shorter values are too common. */
const LEAST_SECRET = 6

type Tiled = Pick<UpstreamLayer, 'tileMatrixSet' | 'tileMatrices' | 'tileSize'>

/** A picture that a service draws: tiles of a square, with a margin where the square does not end at the edge of the grid. */
export interface Square {
  readonly url: string
  readonly z: number
  readonly x: number
  readonly y: number
  readonly columns: number
  readonly rows: number
  /** pixels before the first tile */
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Returns the address of a tile; null: the service has none there. */
export function tileAddress(
  request: Extract<UpstreamRequest, { kind: 'tiles' }>,
  { z, x, y }: TilePlace,
): string | null {
  const level = request.levels === null ? { id: String(z), column: 0, row: 0 } : request.levels[z]
  if (level == null || x < level.column || y < level.row) return null
  const [column, row] = [x - level.column, y - level.row]
  const { subdomains } = request
  const values: Readonly<Record<string, string>> = {
    z: encodeURIComponent(level.id),
    x: String(column),
    y: String(row),
    '-y': String(2 ** z - 1 - y),
    quadkey: quadkey(z, x, y),
    // The same tile comes from the same host, whose caches then have it.
    s: subdomains[(x + y) % Math.max(1, subdomains.length)] ?? '',
  }
  return request.template.replace(/\{(-?\w{1,20})\}/g, (whole, name: string) => values[name] ?? whole)
}

function quadkey(z: number, x: number, y: number): string {
  return Array.from({ length: z }, (_, i) => ((x >> (z - 1 - i)) & 1) + 2 * ((y >> (z - 1 - i)) & 1)).join('')
}

/** Returns the request for the picture of the square around a tile. */
export function squareAddress(
  request: Exclude<UpstreamRequest, { kind: 'tiles' }>,
  tiled: Tiled,
  place: TilePlace,
  squareTiles: number,
): Square {
  const set = matrixSetOf(tiled)
  const [across, down] = matrixAtZoom(set, place.z)
  const { tileSize } = tiled
  const x = place.x - (place.x % squareTiles)
  const y = place.y - (place.y % squareTiles)
  const columns = Math.min(squareTiles, across - x)
  const rows = Math.min(squareTiles, down - y)
  const [left, right] = [x > 0 ? MARGIN : 0, x + columns < across ? MARGIN : 0]
  const [top, bottom] = [y > 0 ? MARGIN : 0, y + rows < down ? MARGIN : 0]
  const width = columns * tileSize + left + right
  const height = rows * tileSize + top + bottom
  const [west, , , north] = set.extent
  const cell = (set.extent[2] - set.extent[0]) / (across * tileSize)
  const minX = west + (x * tileSize - left) * cell
  const maxY = north - (y * tileSize - top) * cell
  const box = [minX, maxY - height * cell, minX + width * cell, maxY]
  return { url: pictureAddress(request, box, width, height), z: place.z, x, y, columns, rows, left, top, width, height }
}

function matrixAtZoom({ columns }: TileMatrixSet, z: number): readonly [number, number] {
  return [2 ** z * (columns ?? 1), 2 ** z]
}

function pictureAddress(
  request: Exclude<UpstreamRequest, { kind: 'tiles' }>,
  [minX = 0, minY = 0, maxX = 0, maxY = 0]: readonly number[],
  width: number,
  height: number,
): string {
  if (request.kind === 'arcgis') {
    const system = String(request.wkid)
    const query = {
      bbox: `${minX},${minY},${maxX},${maxY}`,
      bboxSR: system,
      imageSR: system,
      size: `${width},${height}`,
    }
    return `${request.url}${new URLSearchParams({ ...query, format: request.format, transparent: 'true', f: 'image' })}`
  }
  const { version, layers, styles, crs, format, transparent, isLatitudeFirst } = request
  const box = isLatitudeFirst ? [minY, minX, maxY, maxX] : [minX, minY, maxX, maxY]
  const query = new URLSearchParams({
    SERVICE: 'WMS',
    REQUEST: 'GetMap',
    VERSION: version,
    LAYERS: layers,
    STYLES: styles,
  })
  query.set(version === '1.3.0' ? 'CRS' : 'SRS', crs)
  query.set('BBOX', box.join(','))
  query.set('WIDTH', String(width))
  query.set('HEIGHT', String(height))
  query.set('FORMAT', format)
  query.set('TRANSPARENT', transparent ? 'TRUE' : 'FALSE')
  return `${request.url}${query}`
}

/** Returns a request whose addresses contain nothing of the secret query of its source. */
export function withoutSecrets(request: UpstreamRequest, secretQuery: string): UpstreamRequest {
  if (request.kind === 'tiles') return { ...request, template: plain(request.template, secretQuery) }
  return { ...request, url: plain(request.url, secretQuery) }
}

function plain(address: string, secretQuery: string): string {
  const secrets = [...new URLSearchParams(secretQuery)].filter(([name]) => !PROTOCOL.has(name.toLowerCase()))
  const names = new Set(secrets.map(([name]) => name.toLowerCase()))
  const [path = '', query] = address.split('?', 2) as [string, string | undefined]
  const kept = (query ?? '').split('&').filter((part) => part !== '' && !names.has(nameOf(part)))
  const end = kept.length === 0 ? '' : /[?&]$/.test(address) ? '&' : ''
  let left = query === undefined ? path : `${path}?${kept.join('&')}${end}`
  if (left.endsWith('?') && !address.endsWith('?') && kept.length === 0 && !/[?&]$/.test(address))
    left = left.slice(0, -1)
  for (const [name, value] of secrets) {
    if (value.length < LEAST_SECRET || /[{}]/.test(value)) continue
    left = left.replaceAll(value, `{secret:${name}}`).replaceAll(encodeURIComponent(value), `{secret:${name}}`)
  }
  return left
}

/** Returns an address with the secret query of its source, in which places are still names. */
export function withSecrets(address: string, secretQuery: string): string {
  const secrets = secretQuery.split('&').filter((part) => part !== '' && !PROTOCOL.has(nameOf(part)))
  const values = new URLSearchParams(secretQuery)
  const filled = address.replace(/\{secret:([^{}]{1,100})\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? ''),
  )
  const has = new Set((filled.split('?', 2)[1] ?? '').split('&').map(nameOf))
  const added = secrets.filter((part) => !has.has(nameOf(part))).join('&')
  if (added === '') return filled
  return `${filled}${/[?&]$/.test(filled) ? '' : filled.includes('?') ? '&' : '?'}${added}`
}

/**
 * Returns the secret values of the headers and the query of a source, which must not appear in messages, in the spellings in which a service may
 * return them. Parts of a query that are no secrets by themselves (`f=json`) are removed as a whole.
 */
export function secretTexts(headers: Readonly<Record<string, string>>, secretQuery: string): string[] {
  const values = Object.values(headers).flatMap((value) => {
    const [scheme = '', credential] = value.split(' ')
    if (credential === undefined) return [value]
    const plain = /^basic$/i.test(scheme) ? Buffer.from(credential, 'base64').toString() : ''
    return [value, credential, plain, plain.slice(plain.indexOf(':') + 1)]
  })
  for (const part of secretQuery.split('&')) {
    if (part === '' || PROTOCOL.has(nameOf(part))) continue
    const raw = part.slice(part.indexOf('=') + 1)
    const value = new URLSearchParams(part).values().next().value ?? ''
    values.push(...(value.length < LEAST_SECRET ? [part] : [raw, value]))
  }
  const spelled = values.flatMap((value) => [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  ])
  return [...new Set(spelled)].filter((text) => text !== '')
}

export function nameOf(part: string): string {
  const name = part.split('=', 1)[0] ?? ''
  try {
    return decodeURIComponent(name).toLowerCase()
  } catch {
    return name.toLowerCase()
  }
}
