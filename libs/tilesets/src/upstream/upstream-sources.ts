import { createHash } from 'node:crypto'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { coded } from '@gateway/contracts/messages.js'
import { HostSlots } from '@gateway/core/files/host-slots.js'
import type { Answer } from '@gateway/core/object-storage/requester.js'
import { HostCircuit } from '@gateway/core/upstream/host-circuit.js'
import {
  ServiceClient,
  type ServiceHeaders,
  type ServiceOptions,
  type ServiceState,
  ServiceTrouble,
} from '@gateway/core/upstream/service-client.js'
import { folderOfKey, KeptTiles, type Made, type Making } from '../kept/kept-tiles.js'
import { TileNotMade } from '../kept/tile-not-made.js'
import type { BlockCache } from '../remote/block-cache.js'
import type { CachedReader, SourceSpec, TilePlace } from '../source.js'
import { matrixSetOf, tileTouches } from '../tile-matrix-sets.js'
import { MARGIN, secretTexts, squareAddress, tileAddress, withSecrets } from './addresses.js'
import { checkTile, type Expected, plainContent, saidIn } from './content.js'
import { cutSquare } from './cut.js'
import type { UpstreamLayer, UpstreamRequest } from './service.js'

/** Bytes of one answer. */
const MAX_BYTES = 64 * 1024 * 1024
/** Time for which a tile that does not exist is not asked for again. */
const ABSENT_MS = 60_000
const DAY_MS = 24 * 3_600_000
/** Time for which the access to a service is remembered, and tried again after the store refused it. */
const ACCESS_MS = 10_000

/** How a version of a service is served: as the catalog stores it, without credentials. */
export interface Upstream {
  readonly source: string
  readonly request: UpstreamRequest
  readonly ttlSeconds: number
  readonly staleDays: number
  readonly maxConcurrent: number
  readonly timeoutSeconds: number
  readonly metaTiles: number
}

/** A tile that was kept before a time (ms since 1970) is old, within these bounds and zooms. */
export interface Refresh {
  readonly atMs: number
  readonly bounds: Bounds | null
  readonly minZoom: number | null
  readonly maxZoom: number | null
}

/** Secrets of a source of services. */
export interface ServiceAccess {
  readonly headers: ServiceHeaders
  /** of the source's address, without `?` */
  readonly query: string
}

export type UpstreamSpec = SourceSpec &
  Pick<UpstreamLayer, 'tileMatrixSet' | 'tileMatrices' | 'tileSize' | 'minZoom' | 'maxZoom'> & {
    readonly upstream: Upstream
    readonly refreshed?: readonly Refresh[]
  }

export interface UpstreamOptions {
  readonly guard: ServiceOptions['guard']
  readonly cache: BlockCache
  readonly cached: CachedReader | null
  /** reads the access to the services of a scan source */
  readonly access: (source: string) => Promise<ServiceAccess>
  readonly observe: (source: string, status: number | null, seconds: number) => void
  /** see `ServiceOptions.onState` */
  readonly onState: (source: string, state: ServiceState, before: ServiceState['state']) => void
  /** resolves when the next request may begin; absent: at once */
  readonly pace?: () => Promise<void>
}

/** Versions whose tiles are those of a service. Each scan source has its own queue, limits and circuit breaker. */
export class UpstreamSources {
  readonly #options: UpstreamOptions
  readonly #clients = new Map<string, { readonly limits: string; readonly client: ServiceClient }>()
  readonly #access = new Map<string, { readonly untilMs: number; readonly access: Promise<ServiceAccess> }>()

  constructor(options: UpstreamOptions) {
    this.#options = options
  }

  open(spec: UpstreamSpec): KeptTiles {
    const { upstream, refreshed = [], tileMatrixSet, tileMatrices, tileSize, format } = spec
    const { ttlSeconds, staleDays } = upstream
    const squareTiles = squareTilesOf(upstream, tileSize)
    const set = matrixSetOf({ tileMatrixSet, tileMatrices })
    return new KeptTiles({
      key: keyOf(spec),
      format,
      extension: format,
      cache: this.#options.cache,
      cached: this.#options.cached,
      make: (place, making) => this.#make(spec, place, making, squareTiles),
      ttlMs: ttlSeconds * 1000,
      staleMs: staleDays * DAY_MS,
      absentMs: ABSENT_MS,
      squareTiles,
      allOldBeforeMs: Math.max(0, ...refreshed.map(({ atMs }) => atMs)),
      oldBeforeMs: (place) =>
        Math.max(
          0,
          ...refreshed.flatMap(({ atMs, bounds, minZoom, maxZoom }) => {
            const isIn = place.z >= (minZoom ?? 0) && place.z <= (maxZoom ?? place.z)
            return isIn && (bounds === null || tileTouches(set, place, bounds)) ? [atMs] : []
          }),
        ),
    })
  }

  /** the states of the services in use, by scan source */
  get states(): ReadonlyMap<string, ServiceState> {
    return new Map([...this.#clients].map(([source, { client }]) => [source, client.state]))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(({ client }) => client.close()))
  }

  async #make(spec: UpstreamSpec, place: TilePlace, making: Making, squareTiles: number): Promise<Made> {
    // Zooms beyond those of the version are not asked for: the limits of a template are only here.
    if (place.z < spec.minZoom || place.z > spec.maxZoom) return 'absent'
    const { request, source } = spec.upstream
    const square = request.kind === 'tiles' ? null : squareAddress(request, spec, place, squareTiles)
    const address = request.kind === 'tiles' ? null : (square?.url ?? null)
    try {
      const { headers, query } = await this.#accessTo(source)
      // The secrets of a template name places, too.
      const url =
        request.kind === 'tiles'
          ? tileAddress({ ...request, template: withSecrets(request.template, query) }, place)
          : withSecrets(address ?? '', query)
      if (url === null) return 'absent'
      const { caller, isWanted, signal, known } = making
      const fields =
        known === null
          ? {}
          : {
              'if-modified-since': new Date(known.modifiedMs).toUTCString(),
              ...(known.etag !== null && { 'if-none-match': known.etag }),
            }
      const secrets = secretTexts(headers, query)
      const asked = { url, headers, secrets, fields, maxBytes: MAX_BYTES, caller, isWanted, signal }
      await this.#options.pace?.()
      return await this.#clientOf(spec.upstream).ask(asked, async (answer): Promise<Made> => {
        if (answer.status === 304 && known !== null) return 'unchanged'
        if ([204, 404, 410].includes(answer.status)) return 'absent'
        const content = await plainContent(answer.bytes, String(answer.headers['content-encoding'] ?? ''))
        if (answer.status !== 200)
          throw new ServiceTrouble('wrong', `it returns ${answer.status}`, { words: saidIn(content) })
        if (content.length === 0) return 'absent'
        if (square !== null) {
          await checkTile(content, spec.format)
          return cutSquare(content, square, spec.tileSize, spec.format)
        }
        await checkTile(content, spec.format, expectedOf(request as TilesRequest, spec.tileSize))
        return [{ place, bytes: content, ...validatorsOf(answer) }]
      })
    } catch (error) {
      if (!(error instanceof ServiceTrouble)) throw error
      throw asNotMade(error)
    }
  }

  #clientOf({ source, maxConcurrent, timeoutSeconds }: Upstream): ServiceClient {
    const { guard, observe, onState, cache } = this.#options
    const limits = `${maxConcurrent} ${timeoutSeconds}`
    const known = this.#clients.get(source)
    if (known?.limits === limits) return known.client
    void known?.client.close()
    const client = new ServiceClient({
      guard,
      maxConcurrent,
      timeoutMs: timeoutSeconds * 1000,
      slots: (host) =>
        cache.mayFill ? new HostSlots(folderOfKey(cache.directory, `service ${source} ${host}`), maxConcurrent) : null,
      circuit: () => (cache.mayFill ? new HostCircuit(folderOfKey(cache.directory, `service ${source}`)) : null),
      observe: (status, seconds) => observe(source, status, seconds),
      onState: (state, before) => onState(source, state, before),
    })
    this.#clients.set(source, { limits, client })
    return client
  }

  async #accessTo(source: string): Promise<ServiceAccess> {
    const known = this.#access.get(source)
    if (known !== undefined && performance.now() < known.untilMs) return known.access
    // While the store is out of reach, what was known counts.
    const access = this.#options.access(source).catch((error) => {
      if (known !== undefined) return known.access
      throw new TileNotMade(503, coded('store_unreachable_again'), { words: (error as Error).message, wasTried: false })
    })
    this.#access.set(source, { untilMs: performance.now() + ACCESS_MS, access })
    access.catch(() => this.#access.delete(source))
    return access
  }
}

/** Returns the folder `{z}/{x}/{y}.{format}` of the cache in which the tiles of a version are kept, on the host that has fetched them. */
export function keptFolder(cacheDirectory: string, spec: Parameters<typeof keyOf>[0]): string {
  return folderOfKey(cacheDirectory, keyOf(spec))
}

function keyOf({
  upstream: { request, source },
  path,
  tileMatrixSet,
  tileMatrices,
  tileSize,
  format,
}: Pick<UpstreamSpec, 'upstream' | 'path' | 'tileMatrixSet' | 'tileMatrices' | 'tileSize' | 'format'>): string {
  const content = createHash('sha256')
    .update(JSON.stringify([request, tileMatrixSet, tileMatrices, tileSize, format]))
    .digest('hex')
  return `upstream ${source} ${path} ${content}`
}

/** Pixels of tiles that a template without a description may have. */
const USUAL_SIZES = [256, 512, 1024]
/** Names of tiles for dense displays, which have twice the pixels of their grid, as those of basemap.at. */
const DENSE = /hidpi|retina|@2x/i

type TilesRequest = Extract<UpstreamRequest, { kind: 'tiles' }>

function expectedOf({ template, levels, formats }: TilesRequest, size: number): Expected {
  if (levels === null) return { formats: null, sizes: USUAL_SIZES }
  return { formats: formats ?? null, sizes: DENSE.test(template) ? [size, 2 * size] : [size] }
}

/** Returns the tiles in a row of the square that the service gives by one request. */
export function squareTilesOf({ request, metaTiles }: Upstream, tileSize: number): number {
  if (request.kind === 'tiles') return 1
  const most = request.kind === 'wms' ? (request.maxPixels ?? Number.POSITIVE_INFINITY) : 4096
  let tiles = 2 ** Math.floor(Math.log2(Math.max(1, metaTiles)))
  while (tiles > 1 && tiles * tileSize + 2 * MARGIN > most) tiles /= 2
  return tiles
}

function validatorsOf({ headers }: Answer) {
  const etag = [headers.etag].flat()[0] ?? null
  const modified = Date.parse([headers['last-modified']].flat()[0] ?? '')
  return { etag, modifiedMs: Number.isNaN(modified) ? null : modified }
}

function asNotMade({ kind, message, reason, retryAfterSeconds, wasAsked }: ServiceTrouble): TileNotMade {
  const detail = { words: message, retryAfterSeconds, wasTried: wasAsked }
  if (kind === 'busy') return new TileNotMade(503, coded('upstream_busy'), detail)
  if (kind === 'silent') return new TileNotMade(504, coded('upstream_silent', { reason }), detail)
  return new TileNotMade(502, coded('upstream_wrong', { reason }), detail)
}
