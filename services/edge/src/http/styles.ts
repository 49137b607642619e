import fs from 'node:fs'
import { CURRENT_VERSION, isVectorFormat } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { CodedError, type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { VectorFacts } from '@gateway/contracts/vector.js'
import { MAX_WHOLE_BYTES } from '@gateway/contracts/without-schemas.js'
import type { WantedResource } from '@gateway/core/access/decide.js'
import { PoolBusy } from '@gateway/core/processes/helper-pool.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { StoredSprite } from '@gateway/store/styles.js'
import { rasterStyle, THEMES, type Theme, vectorStyle } from '@gateway/styles/default-styles.js'
import { MAX_STACK_FONTS, MAX_STACK_LENGTH, parseFontStack, parseGlyphRange } from '@gateway/styles/fonts.js'
import { atParameter, glyphTemplate, rewriteStyle, withQuery } from '@gateway/styles/rewrite.js'
import { decodedSegment } from '@gateway/tilesets/address.js'
import { CORS, type Header, headerBlock } from '../answers/header-block.js'
import type { Edge } from '../edge.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { httpDate } from '../files/conditional.js'
import { drawnLayers } from '../styles/drawn-layers.js'
import type { Finished } from '../styles/style-assets.js'
import type { CatalogStyle, CatalogVector } from '../sync/catalog.js'
import { isStorageTrouble } from '../tiles/read-troubles.js'
import { answerCondition } from './answer-condition.js'
import { atIn, labelAt } from './at-time.js'
import { ANY_TOKEN, type Ask, admit } from './authorize.js'
import { answerDocument, offerNatively, SECRET_PLACE } from './document.js'
import { absentVersion, noVector, shownName } from './missing-reasons.js'
import { answerPicture, askPicture, pictureAddress } from './pictures.js'
import { answerRefusal, INTERNAL, NOT_FOUND, STORAGE_DOWN, UNDECODABLE } from './refusals.js'
import { guarded, RequestContext } from './request-context.js'
import { wantedBasemap, wantedVector } from './tile-answer.js'
import { tokenQuery } from './tilejson.js'
import { openFile } from './vector-file.js'
import { servedTiles } from './vector-tiles.js'

const STYLE_FILE = 'style.json'
const JSON_TYPE = 'application/json; charset=utf-8'
const TYPES: Readonly<Record<string, string>> = {
  json: JSON_TYPE,
  geojson: 'application/geo+json',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  mp4: 'video/mp4',
  pbf: 'application/x-protobuf',
  ttf: 'font/ttf',
  otf: 'font/otf',
  woff: 'font/woff',
  woff2: 'font/woff2',
}
export const NO_SUCH_STYLE = refuse('not_found', coded('style_not_found'))
const NO_SUCH_FILE = refuse('not_found', coded('style_file_absent'))
const BAD_STACK = refuse(
  'invalid_parameters',
  coded('font_stack_malformed', { fonts: MAX_STACK_FONTS, characters: MAX_STACK_LENGTH }),
)
const BAD_RANGE = refuse('invalid_parameters', coded('glyph_range_malformed'))
const BAD_THEME = refuse('invalid_parameters', coded('theme_unknown'))
const BUSY: Refusal = { ...refuse('too_many_requests', coded('documents_full')), retryAfterSeconds: 2 }
const VARY = 'Authorization, X-Access-Token'

/** Returns the grants that a style needs. An unknown style needs none: it is missing for all readers. */
export function wantedStyle({ freshness }: Edge, code: string): NonNullable<WantedResource> {
  return freshness.catalog.styles.get(code)?.wanted ?? { kind: 'style', code, parts: [] }
}

/** Handles GET and HEAD of `/styles/{code}/style.json`, of the sprites and data files of its folder, and of its pictures. */
export function onStyle(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  const ask = askStyle(edge, exchange.path, exchange.query)
  const { code, file, picture } = styleAddress(exchange.path)
  if (code === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  if (code === '' || file === '') return admit(exchange, ask, () => answerRefusal(exchange, NOT_FOUND))
  const answer = (fromQuery: boolean) => {
    const style = exchange.edge.freshness.catalog.styles.get(code)
    if (picture !== null) return answerPicture(exchange, code, picture, fromQuery)
    if (!style?.served) return answerRefusal(exchange, NO_SUCH_STYLE)
    if (file === STYLE_FILE) answerStyle(exchange, style, fromQuery)
    else answerFile(exchange, style, file)
  }
  admit(exchange, ask, answer)
}

/** `code` is null if a part of the address cannot be decoded. */
function styleAddress(path: string) {
  const segments = path.slice('/styles/'.length).split('/').map(decodedSegment)
  if (segments.includes(null)) return { code: null, file: '', picture: null }
  const [code = '', ...rest] = segments as string[]
  return { code, file: rest.join('/'), picture: pictureAddress(rest) }
}

export function askStyle(edge: Edge, path: string, query: string): Ask {
  const { code, file, picture } = styleAddress(path)
  if (code === null || code === '' || file === '') return ANY_TOKEN
  const signable = { opens: file === STYLE_FILE ? 'style' : 'sprite', code, version: null } as const
  const assets = edge.freshness.catalog.styles.get(code)?.stored.assets
  // A data file cannot be cut to the bounds of a token.
  const isData = assets?.files.some(({ name }) => name === file) === true
  const ask: Ask = { wanted: wantedStyle(edge, code), signable, reach: isData ? null : 'cut' }
  return picture === null ? ask : askPicture(edge, code, picture, query, ask)
}

/** @param contentType media type of the style; its bytes are the same for all types */
export function answerStyle(
  exchange: RequestContext,
  style: CatalogStyle,
  fromQuery: boolean,
  contentType = JSON_TYPE,
) {
  const fontRevision = exchange.edge.styleAssets.revisionOf(exchange.edge.freshness.catalog)
  const { code, document, dependencies } = style.stored
  const time = atIn(exchange.query)
  if (time !== null) {
    // A style in which a source is missing cannot represent that time.
    for (const source of dependencies.sources) {
      if (source.kind !== 'basemap' || source.version !== null) continue
      const then = labelAt(exchange.edge, source.code, time)
      if (!then.ok) return answerRefusal(exchange, then)
    }
  }
  answerDocument(exchange, {
    of: style,
    key: `${contentType} ${fromQuery} ${fontRevision} ${time}`,
    grows: false,
    contentType,
    text: () =>
      JSON.stringify(rewriteStyle(JSON.parse(document), { code, at: time, ...stylePlaces(exchange, fromQuery) })),
    inserted: fromQuery ? tokenQuery(exchange.query) : '',
  })
}

/** Returns the places in which the parts that a style names are found. `fromQuery`: the token came in the query. */
export function stylePlaces({ edge }: RequestContext, fromQuery: boolean) {
  const { tilePublicBaseUrl: tileBase, vectorPublicBaseUrl: vectorBase } = edge.settings
  return {
    tileBase,
    vectorBase,
    styleBase: tileBase,
    credential: fromQuery ? SECRET_PLACE : '',
    fontRevision: edge.styleAssets.revisionOf(edge.freshness.catalog),
  }
}

const SPRITE_FILE = /^(.+?)(@2x)?\.(json|png)$/

function answerFile(exchange: RequestContext, { stored }: CatalogStyle, file: string) {
  const { sprites, files } = stored.assets
  const [, name = '', doubled, extension = ''] = SPRITE_FILE.exec(file) ?? []
  // The address of the sprite has one name, regardless of the names of its files.
  const sprite = sprites.find((one) => one.name === name) ?? (name === 'sprite' ? sprites[0] : undefined)
  if (sprite !== undefined)
    return answerSprite(exchange, stored, sprite, doubled === undefined ? 1 : 2, extension as 'json' | 'png')
  const data = files.find((one) => one.name === file)
  if (data === undefined) return answerRefusal(exchange, NO_SUCH_FILE)
  answerOpenedFile(exchange, stored.sourcePath, data.path, typeOf(file))
}

function typeOf(file: string): string {
  return TYPES[file.slice(file.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
}

/** The index is compressed, the image is not. */
function answerSprite(
  exchange: RequestContext,
  stored: CatalogStyle['stored'],
  sprite: StoredSprite,
  ratio: 1 | 2,
  extension: 'json' | 'png',
) {
  const type = TYPES[extension] as string
  const { edge, token } = exchange
  const { styleAssets } = edge
  const caller = token ?? ''
  const refuseUndrawn = ({ reason }: { readonly reason: string }) =>
    answerRefusal(exchange, refuse('not_found', coded('style_sprite_undrawn', { reason })))
  if (extension === 'json')
    return later(exchange, styleAssets.spriteIndex(stored, sprite, ratio, caller), (made) => {
      if (made === null) answerRefusal(exchange, NO_SUCH_FILE)
      else if (made.ok) answerFinished(exchange, made.index, type, 'private, no-cache')
      else refuseUndrawn(made)
    })
  if (sprite.kind === 'files') {
    // Without a sprite for high resolution, the plain one is used; its index gives its ratio.
    const suffix = ratio === 2 && sprite.doubled ? '@2x' : ''
    return answerOpenedFile(exchange, stored.sourcePath, `${sprite.path}${suffix}.${extension}`, type)
  }
  later(exchange, styleAssets.drawnSprite(stored, sprite, ratio, caller), (drawn) => {
    if (drawn.ok) answerOpenedFile(exchange, styleAssets.folder, drawn.png, type, etagOf(stored, ratio))
    else refuseUndrawn(drawn)
  })
}

function etagOf({ fingerprint }: CatalogStyle['stored'], ratio: number): string {
  return `"${fingerprint}-${ratio}"`
}

/** Caches must revalidate each use, because both the file and the token's grants may change. */
const PRIVATE: readonly Header[] = [['Cache-Control', 'private, no-cache'], ['Vary', VARY], ...CORS]

/** @param etag if the content is known by another name than that of the file */
function answerOpenedFile(exchange: RequestContext, root: string, path: string, type: string, etag?: string) {
  later(exchange, openFile(exchange, { root, path, type, fileName: '', code: '' }), (opened) => {
    if (!('fd' in opened)) return answerRefusal(exchange, opened === NOT_FOUND ? NO_SUCH_FILE : opened)
    const { fd, size, remote } = opened
    const validators = etag === undefined ? opened.validators : { ...opened.validators, etag }
    const release = () => fs.close(fd, () => {})
    if (exchange.aborted) return release()
    const common: Header[] = [['Last-Modified', httpDate(validators.modifiedMs)], ...PRIVATE]
    const headers = headerBlock(['Content-Type', type], ['ETag', validators.etag], ...common)
    if (answerCondition(exchange, validators, () => headerBlock(['ETag', validators.etag], ...common))) return release()
    exchange.answerPart('200 OK', headers, { fd, offset: 0, length: size, remote, release })
  })
}

/** Calls `then` with the result, or sends the refusal if it cannot be read or made. */
function later<T>(exchange: RequestContext, making: Promise<T>, then: (made: T) => void): void {
  const { edge } = exchange
  making.then(
    (made) => guarded(edge, () => then(made)),
    (error) =>
      guarded(edge, () => {
        if (exchange.aborted) return
        if (error instanceof PoolBusy) return answerRefusal(exchange, BUSY)
        if (error instanceof CodedError) return answerRefusal(exchange, refuse('dependency_down', error.said))
        if (isStorageTrouble(error)) return answerRefusal(exchange, STORAGE_DOWN)
        edge.log.error({ err: error, path: exchange.path }, 'a part of a style cannot be read')
        answerRefusal(exchange, INTERNAL)
      }),
  )
}

/** Handles GET and HEAD of `/fonts/{fontstack}/{range}.pbf`. */
export function onFont(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  const segments = exchange.path.slice('/fonts/'.length).split('/').map(decodedSegment)
  const answer = () => {
    if (segments.includes(null)) return answerRefusal(exchange, UNDECODABLE)
    const [stackText = '', file = '', ...rest] = segments as string[]
    if (rest.length > 0 || !file.endsWith('.pbf')) return answerRefusal(exchange, NOT_FOUND)
    const stack = parseFontStack(stackText)
    const first = parseGlyphRange(file.slice(0, -'.pbf'.length))
    if (stack === null) return answerRefusal(exchange, BAD_STACK)
    if (first === null) return answerRefusal(exchange, BAD_RANGE)
    const { catalog } = edge.freshness
    // An address with the revision of the fonts never comes to mean other bytes.
    const isFixed = new URLSearchParams(exchange.query).get('v') === edge.styleAssets.revisionOf(catalog)
    const cacheControl = isFixed ? 'private, max-age=31536000, immutable' : 'private, no-cache'
    const send = (range: Finished) => answerFinished(exchange, range, TYPES.pbf as string, cacheControl)
    const kept = edge.styleAssets.rangeIfKept(catalog, stack, first)
    if (kept !== undefined) return send(kept)
    later(exchange, edge.styleAssets.range(catalog, stack, first, exchange.token ?? ''), send)
  }
  admit(exchange, FONT, answer)
}

const FONT: Ask = { wanted: null, signable: { opens: 'glyphs', code: '', version: null }, reach: 'cut' }

/** Every token may read the fonts. */
export function askFont(): Ask {
  return FONT
}

function answerFinished(
  exchange: RequestContext,
  { plain, packed, digest }: Finished,
  type: string,
  cacheControl: string,
): void {
  const gzip = packed.length < plain.length && acceptsGzip(exchange.header('accept-encoding'))
  const etag = `"${digest}${gzip ? '' : '-plain'}"`
  const common: readonly Header[] = [['Cache-Control', cacheControl], ['Vary', `${VARY}, Accept-Encoding`], ...CORS]
  const current = { etag, modifiedMs: Number.POSITIVE_INFINITY }
  if (answerCondition(exchange, current, () => headerBlock(['ETag', etag], ...common))) return
  const encoding: readonly Header[] = gzip ? [['Content-Encoding', 'gzip']] : []
  const headers = headerBlock(['Content-Type', type], ['ETag', etag], ...encoding, ...common)
  const body = gzip ? packed : plain
  // A sprite's file may change at any time.
  if (type === TYPES.pbf) offerNatively(exchange, headers, body)
  exchange.answer('200 OK', headers, body)
}

/** Handles GET and HEAD of `/tiles/{code}/style.json`: a style that shows the basemap without changes. */
export function onBasemapStyle(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  const code = decodedSegment(exchange.path.slice('/tiles/'.length, -`/${STYLE_FILE}`.length))
  const ask = askBasemapStyle(edge, exchange.path)
  if (code === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  const answer = (fromQuery: boolean) => {
    const time = atIn(exchange.query)
    const then = time === null ? null : labelAt(exchange.edge, code, time)
    if (then?.ok === false) return answerRefusal(exchange, then)
    const basemap = exchange.edge.freshness.catalog.basemaps.get(code)
    const version = basemap?.versions.get(then?.label ?? CURRENT_VERSION)
    if (basemap === undefined || version === undefined) {
      return answerRefusal(exchange, refuse('not_found', absentVersion(code, null, basemap, exchange.token !== '')))
    }
    exchange.asked = version.usage
    const { stored } = version
    // MapLibre draws every raster and vector source as Web Mercator, so the map would be wrong without a word.
    if (stored.tileMatrixSet !== 'WebMercatorQuad') {
      return answerRefusal(exchange, refuse('not_found', coded('style_of_grid', { grid: stored.tileMatrixSet })))
    }
    const { tileBase, ...place } = stylePlaces(exchange, fromQuery)
    const tileJsonUrl = withQuery(`${tileBase}/tiles/${encodeURIComponent(code)}/tilejson.json`, [
      atParameter(time),
      place.credential,
    ])
    answerDefault(exchange, basemap, `${fromQuery} ${time}`, fromQuery, (theme) => {
      const { name } = basemap.stored
      if (!isVectorFormat(stored.format)) return rasterStyle(name, tileJsonUrl, stored.tileSize, theme)
      const bounds = exchange.area === null ? stored.bounds : null
      return vectorStyle(
        { name, tileJsonUrl, glyphs: glyphTemplate(place), layers: drawnLayers(stored), bounds },
        theme,
      )
    })
  }
  admit(exchange, ask, answer)
}

export function askBasemapStyle(edge: Edge, path: string): Ask {
  const code = decodedSegment(path.slice('/tiles/'.length, -`/${STYLE_FILE}`.length))
  if (code === null) return ANY_TOKEN
  const signable = { code, version: null }
  return { wanted: wantedBasemap(edge, code), signable, reach: signable }
}

/** Handles GET and HEAD of `/vectors/{code}/style.json`: a style that draws the vector with default symbols. */
export function onVectorStyle(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'tile', res, req)
  const code = decodedSegment(exchange.path.slice('/vectors/'.length, -`/${STYLE_FILE}`.length))
  const ask = askVectorStyle(edge, exchange.path)
  if (code === null) return admit(exchange, ask, () => answerRefusal(exchange, UNDECODABLE))
  const answer = (fromQuery: boolean) => {
    const vector = edge.freshness.catalog.vectors.get(code)
    if (!vector?.served) {
      return answerRefusal(exchange, noVector(code))
    }
    const tiles = servedTiles(edge, code)?.version.stored
    const undrawn = tiles === undefined ? whyUndrawn(vector) : null
    if (undrawn !== null) return answerRefusal(exchange, refuse('not_found', undrawn))
    const { vectorBase, ...place } = stylePlaces(exchange, fromQuery)
    const addressOf = (path: string) => withQuery(`${vectorBase}${path}`, [place.credential])
    const own = `/vectors/${encodeURIComponent(code)}`
    // A whole file cannot be cut to an area, and items can.
    const items = withQuery(`${place.tileBase}/ogc/collections/${encodeURIComponent(code)}/items?limit=10000`, [
      place.credential,
    ])
    const data =
      tiles !== undefined
        ? { tileJsonUrl: addressOf(`${own}/tilejson.json`) }
        : { tileJsonUrl: null, geojsonUrl: exchange.area === null ? addressOf(`${own}.geojson`) : items }
    answerDefault(exchange, vector, `${fromQuery}`, fromQuery, (theme) => {
      const facts = vector.factsText === null ? null : (JSON.parse(vector.factsText) as VectorFacts)
      const named = facts?.fields?.some((field) => field.name === 'name') ?? true
      // GeoJSON has no layers, and a file without known ones has a single one.
      const layers = tiles === undefined ? [{ id: code, named }] : drawnLayers(tiles)
      const bounds = exchange.area === null ? (facts?.bounds ?? tiles?.bounds ?? null) : null
      return vectorStyle({ name: vector.stored.name, ...data, glyphs: glyphTemplate(place), layers, bounds }, theme)
    })
  }
  admit(exchange, ask, answer)
}

/** Returns the reason why a vector without tiles cannot be drawn from its GeoJSON; null if it can. */
function whyUndrawn({ stored: { code, size, tiles } }: CatalogVector): CodedMessage | null {
  const name = shownName(code)
  if (!tiles.queued && tiles.message !== '') return coded('vector_undrawn', { name, reason: tiles.message })
  return size <= MAX_WHOLE_BYTES ? null : coded('vector_undrawn_large', { name, limit: MAX_WHOLE_BYTES / 1e6 })
}

export function askVectorStyle(edge: Edge, path: string): Ask {
  const code = decodedSegment(path.slice('/vectors/'.length, -`/${STYLE_FILE}`.length))
  if (code === null) return ANY_TOKEN
  return { wanted: wantedVector(edge, code), signable: { opens: 'vector', code, version: null }, reach: 'cut' }
}

/** @param key its dependencies in addition to the theme and the fonts */
function answerDefault(
  exchange: RequestContext,
  of: object,
  key: string,
  fromQuery: boolean,
  make: (theme: Theme) => object,
) {
  const asked = new URLSearchParams(exchange.query).get('theme') ?? 'light'
  const theme = THEMES.find((one) => one === asked)
  if (theme === undefined) return answerRefusal(exchange, BAD_THEME)
  const fontRevision = exchange.edge.styleAssets.revisionOf(exchange.edge.freshness.catalog)
  answerDocument(exchange, {
    of,
    key: `default style ${theme} ${key} ${fontRevision} ${exchange.area === null}`,
    grows: false,
    contentType: JSON_TYPE,
    text: () => JSON.stringify(make(theme)),
    inserted: fromQuery ? tokenQuery(exchange.query) : '',
  })
}
