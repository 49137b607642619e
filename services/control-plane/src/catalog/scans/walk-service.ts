import { createHash } from 'node:crypto'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { ServiceChoice, ServiceLayers } from '@gateway/contracts/service.js'
import { removeSecrets } from '@gateway/core/access/redact.js'
import { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { ServiceClient, ServiceTrouble } from '@gateway/core/upstream/service-client.js'
import { readServiceSource, type ServiceSource } from '@gateway/store/scan-sources.js'
import { secretTexts, withoutSecrets } from '@gateway/tilesets/upstream/addresses.js'
import { plainContent } from '@gateway/tilesets/upstream/content.js'
import { decodeDocument, readService } from '@gateway/tilesets/upstream/read-service.js'
import {
  type FetchDocument,
  type LeftOut,
  NotAService,
  type UpstreamLayer,
} from '@gateway/tilesets/upstream/service.js'
import type { ControlContext } from '../../platform/context.js'
import { firstFree, MAX_CODE_LENGTH, NO_CODE, reducedCode } from '../register/codes.js'
import { versionRecord } from '../register/version-record.js'
import { type FoundBasemap, noWarnings, quoted, warn } from './walk/found.js'
import { WalkError } from './walk/walk.js'
import type { Found } from './walk/walk-process.js'

/** Label of the only version of a service's layer. */
export const LIVE = 'live'

/** Limits: seconds of one request for a description, and its bytes. */
const TIMEOUT_MS = 30_000
const MAX_BYTES = 16 * 1024 * 1024

const LEFT_OUT = {
  grid: 'service_layer_grid',
  format: 'service_layer_format',
  address: 'service_layer_address',
} as const

/** Finds the layers of a service, each as a basemap with the version `live`. */
export async function walkService(
  { sql, settings }: Pick<ControlContext, 'sql' | 'settings'>,
  scanned: ScannedService,
  signal: AbortSignal,
  onProgress: (steps: number) => void,
): Promise<Found> {
  const { code } = scanned
  const source = await accessOf(sql, scanned)
  const lists = { allow: settings.upstreamAllow, deny: settings.upstreamDeny }
  const client = new ServiceClient({
    guard: new DestinationGuard(settings, undefined, lists),
    maxConcurrent: 4,
    timeoutMs: TIMEOUT_MS,
  })
  const secrets = secretTexts(source.headers, source.query)
  let steps = 0
  const fetch: FetchDocument = async (url) => {
    const asked = {
      url,
      headers: source.headers,
      secrets,
      maxBytes: MAX_BYTES,
      caller: 'scan',
      isWanted: () => true,
      signal,
    }
    onProgress(++steps)
    return client.ask(asked, async ({ status, headers: { 'content-encoding': encoding = '' }, bytes }) => {
      if (status !== 200) throw new ServiceTrouble('wrong', `it returns ${status}`)
      const content = await plainContent(bytes, String(encoding))
      return { url, text: decodeDocument(content) }
    })
  }
  const { options = {}, layers = null } = source.choice
  const names = layers?.map((one) => (typeof one === 'string' ? one : one.name)) ?? null
  try {
    const service = await readService(
      source.query === '' ? source.path : `${source.path}?${source.query}`,
      {
        layers: names,
        format: options.format ?? null,
        tileSize: options.tile_size ?? 256,
        minZoom: options.min_zoom ?? null,
        maxZoom: options.max_zoom ?? null,
        subdomains: options.subdomains ?? [],
      },
      fetch,
    )
    const warnings = noWarnings()
    for (const { layer, why } of service.left) warn(warnings, leftOut(layer, why))
    const chosen = new Set(service.layers.map((layer) => choiceOf(layer, layers ?? [])))
    const known = new Set(service.left.map(({ layer }) => layer))
    for (const one of layers ?? []) {
      const name = typeof one === 'string' ? one : one.name
      if (!chosen.has(one) && !known.has(name)) warn(warnings, coded('service_layer_absent', { layer: quoted(name) }))
    }
    if (service.layers.length === 0) warn(warnings, coded('service_no_layers'))
    const used = new Set<string>()
    const basemaps = service.layers.map((layer) => basemapOf(code, source, layer, used))
    return { kind: 'basemap', found: { basemaps, uncertain: [], warnings }, steps }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof NotAService) && !(error instanceof ServiceTrouble)) throw error
    throw new WalkError(coded('service_unreadable', { words: removeSecrets(error.message, secrets) }))
  } finally {
    await client.close()
  }
}

/** A source to scan; `password` and `choice` are those of a source that is tried. */
export interface ScannedService {
  readonly code: string
  readonly path: string
  readonly password?: string | undefined
  readonly choice?: unknown
}

/** Stored secrets belong to the stored address, so that a trial of another one does not reveal them. */
export async function accessOf(
  sql: ControlContext['sql'],
  { code, path, password, choice }: ScannedService,
): Promise<ServiceSource> {
  const stored = await readServiceSource(sql, code)
  const known = stored?.path === path ? stored : null
  const given = password === undefined ? {} : (JSON.parse(password) as Partial<ServiceSource>)
  const { headers = known?.headers ?? {}, query = known?.query ?? '' } = given
  return { path, headers, query, choice: (choice as ServiceChoice | undefined) ?? stored?.choice ?? {} }
}

function leftOut(layer: string, why: LeftOut): CodedMessage {
  return coded(LEFT_OUT[why], { layer: quoted(layer) })
}

function usualCode(source: string, { layer, name }: UpstreamLayer): string {
  // A dot is no extension here.
  const ownName = reducedCode((layer || name || 'service').replaceAll('.', '-'))
  if (source === NO_CODE) return ownName
  return layer === '' ? source : `${source}-${ownName}`.slice(0, MAX_CODE_LENGTH)
}

/** Returns the choice of a layer. The only layer of a service has no name: it is chosen by its title, or by the only choice. */
function choiceOf({ layer, name }: UpstreamLayer, layers: ServiceLayers): ServiceLayers[number] | undefined {
  const named = (said: string) => layers.find((one) => (typeof one === 'string' ? one : one.name) === said)
  if (layer !== '') return named(layer)
  return named('') ?? named(name) ?? (layers.length === 1 ? layers[0] : undefined)
}

function basemapOf(
  source: string,
  { path, headers, query, choice }: ServiceSource,
  layer: UpstreamLayer,
  used: Set<string>,
): FoundBasemap {
  const { options = {}, layers = [] } = choice
  const set = choiceOf(layer, layers)
  const wanted = typeof set === 'object' ? set.code : undefined
  const code = firstFree(wanted ?? usualCode(source, layer), used)
  used.add(code)
  const upstream = {
    source,
    request: withoutSecrets(layer.request, query),
    ttlSeconds: options.ttl_seconds ?? 604_800,
    staleDays: options.stale_days ?? 30,
    maxConcurrent: options.max_concurrent ?? 8,
    timeoutSeconds: options.timeout_seconds ?? 10,
    metaTiles: options.meta_tiles ?? 4,
  }
  const secrets = secretTexts(headers, query)
  const [name, description, attribution] = [layer.name, layer.description, layer.attribution].map(
    (text) => text && removeSecrets(text, secrets),
  ) as [string, string | null, string | null]
  const { bounds, minZoom, maxZoom, format, tileSize, tileMatrixSet, tileMatrices, vectorLayers } = layer
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([upstream, tileMatrixSet, tileMatrices, format, tileSize]))
    .digest('hex')
  const version = versionRecord(LIVE, `${path}#${layer.layer}`, {
    storage: 'upstream',
    rowsFromNorth: false,
    rowsAssumed: false,
    format,
    extension: format,
    encoding: 'identity',
    tileSize,
    minZoom,
    maxZoom,
    bounds,
    boundsDerived: false,
    name: name || null,
    attribution,
    description,
    vectorLayers,
    tileMatrixSet,
    tileMatrices,
    metadata: {},
    fingerprint: fingerprint.slice(0, 32),
    warnings: [],
  })
  return { code, name: name || null, versions: [{ ...version, upstream }] }
}
