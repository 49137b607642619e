import { ServiceTrouble } from '@gateway/core/upstream/service-client.js'
import { parseJson, readArcgis, readOgcTiles, readTemplate, readTileJson } from './json-services.js'
import {
  type FetchDocument,
  NotAService,
  type ReadOptions,
  type UpstreamLayer,
  type UpstreamService,
} from './service.js'
import { readWms } from './wms.js'
import { readWmts } from './wmts.js'

/**
 * Reads what a service at an address offers. Its kind is that of its description, whatever the address looks like. Rejects with `NotAService`, and
 * with the errors of `fetch`.
 */
export async function readService(url: string, options: ReadOptions, fetch: FetchDocument): Promise<UpstreamService> {
  const service = /\{(?:z|quadkey)\}/.test(url) ? readTemplate(url, options) : await describe(url, options, fetch)
  return { left: service.left, layers: service.layers.map((layer) => within(layer, options)) }
}

/** Paths of OGC services. */
const OGC_PATH = /w(?:ms|mts)|\bows\b|mapserv/i

/** An OGC service answers its plain address by an error or a page, or closes the connection: then its capabilities are asked for. */
async function describe(url: string, options: ReadOptions, fetch: FetchDocument): Promise<UpstreamService> {
  const asked = descriptionOf(url)
  try {
    return await readDescription(asked, options, fetch)
  } catch (error) {
    const capabilities = capabilitiesOf(asked)
    const isSilent = error instanceof ServiceTrouble && error.kind !== 'wrong'
    if (capabilities === null || (isSilent && !OGC_PATH.test(new URL(asked).pathname))) throw error
    return readDescription(capabilities, options, fetch).catch(() => {
      throw error
    })
  }
}

function capabilitiesOf(text: string): string | null {
  const url = new URL(text)
  const names = [...url.searchParams.keys()].map((key) => key.toLowerCase())
  if (['service', 'request', 'f'].some((name) => names.includes(name)) || /\.(?:xml|json)$/i.test(url.pathname))
    return null
  url.searchParams.set('SERVICE', /wmts/i.test(url.pathname) ? 'WMTS' : 'WMS')
  url.searchParams.set('REQUEST', 'GetCapabilities')
  return url.href
}

async function readDescription(url: string, options: ReadOptions, fetch: FetchDocument): Promise<UpstreamService> {
  const document = await fetch(url)
  const start = document.text.slice(0, 4096)
  if (start.trimStart().startsWith('<')) {
    // A declaration of the type may be long.
    if (/<(?:\w+:)?Capabilities[\s>]/.test(document.text)) return readWmts(document.text, document.url, options)
    if (/<(?:\w+:)?WM(?:S|T_MS)_Capabilities[\s>]/.test(document.text))
      return readWms(document.text, document.url, options)
    throw new NotAService(`the address answers with other XML or HTML: ${wordsOf(start)}`)
  }
  const json = parseJson(document.text)
  if ('tilejson' in json || Array.isArray(json.tiles)) return readTileJson(json, document.url, options)
  if ('currentVersion' in json || 'tileInfo' in json || 'mapName' in json)
    return readArcgis(json, document.url, options)
  if (Array.isArray(json.links)) return readOgcTiles(json, document.url, options, fetch)
  throw new NotAService('the address answers with other JSON')
}

/** ArcGIS describes itself in JSON only if it is asked to, and OGC services by a request in the query. */
function descriptionOf(text: string): string {
  const url = new URL(text)
  const has = (name: string) => [...url.searchParams.keys()].some((key) => key.toLowerCase() === name)
  if (/\/(?:Map|Image)Server\/?$/i.test(url.pathname) && !has('f') && !has('request')) url.searchParams.set('f', 'json')
  if (has('service') && !has('request')) url.searchParams.set('REQUEST', 'GetCapabilities')
  return url.href
}

function within(layer: UpstreamLayer, { minZoom, maxZoom }: ReadOptions): UpstreamLayer {
  const from = Math.max(layer.minZoom, minZoom ?? 0)
  return { ...layer, minZoom: from, maxZoom: Math.max(from, Math.min(layer.maxZoom, maxZoom ?? layer.maxZoom)) }
}

/** Returns the first words of a document without its tags. */
export function wordsOf(document: string): string {
  return document
    .replace(/<[^<>]{0,2000}>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300)
}

/** Decodes a document by its byte order mark or the encoding that it declares. Others are UTF-8. */
export function decodeDocument(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1')
  // A mark tells more than the declaration, which servers do not adapt. Some send the mark of UTF-16 before other text.
  const isMarked = start.startsWith('\xff\xfe')
  const isLittle = (isMarked && start[3] === '\0') || start.startsWith('<\0')
  const isBig = start.startsWith('\xfe\xff') || start.startsWith('\0<')
  if (isMarked && !isLittle) return decodeDocument(bytes.subarray(2))
  const declared = /^<\?xml[^>]{0,100}encoding=["']([\w-]{1,40})["']/.exec(start)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : declared).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
