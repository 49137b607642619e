import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { DrawAnswer, DrawnView, DrawTask } from '@gateway/contracts/drawing.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { Log } from '@gateway/core/logging/log.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { edgeUrl, type Settings } from '@gateway/core/settings/load.js'
import { KeptTiles, type MadeTile } from '@gateway/tilesets/kept/kept-tiles.js'
import { TileNotMade } from '@gateway/tilesets/kept/tile-not-made.js'
import type { BlockCache } from '@gateway/tilesets/remote/block-cache.js'
import type { CachedReader, Source, TilePlace } from '@gateway/tilesets/source.js'
import { LRUCache } from 'lru-cache'
import type { SignedUrls } from '../auth/signed-urls.js'
import type { CatalogVersion } from '../sync/catalog.js'
import { type DrawnStyle, type PictureKind, pictureOf } from '../sync/drawn-styles.js'
import { DRAWN_BASE, pictureDocument } from './picture-document.js'
import { squareOf, tilesInRow } from './square.js'
import type { StaticRequest } from './static-request.js'

/** Seconds for which the renderer may load the parts of a picture; a picture waits and is drawn for far less. */
const OPENED_SECONDS = 600
/** Time in ms that a request waits for a picture. */
export const PICTURE_WAIT_MS = 10_000
/** Retry-After in seconds of a picture that is still being drawn. */
export const RETRY_SECONDS = 3
/** Bytes of static pictures in the memory of a process, for pages that show the same one to all of their readers. */
const MAX_STATIC_BYTES = 16 * 2 ** 20
/** Rendered tiles never grow old if everything that they show is part of their key. */
const ALWAYS = Number.POSITIVE_INFINITY
/** Time in ms for which other pictures are current: of databases, services and other hosts. */
const CURRENT_MS = 300_000

const MEDIA = { png: 'image/png', webp: 'image/webp', jpg: 'image/jpeg' } as const
const NO_OVERLAY = { markers: [], paths: [], attribution: false } as const

export interface PicturesNeeds {
  readonly settings: Settings
  readonly log: Log
  readonly signed: SignedUrls
  /** revision of all fonts, those of the system included */
  readonly fontRevision: () => string
  readonly draw: (task: DrawTask, caller: string) => Promise<DrawAnswer | 'busy'>
}

export interface StaticPicture {
  readonly bytes: Uint8Array
  readonly type: string
  readonly etag: string
}

/** Pictures of styles: asks the renderer of this host for them, cuts and keeps them. */
export class Pictures {
  /** false: this host has no Chromium, or pictures are switched off */
  readonly available: boolean
  readonly #needs: PicturesNeeds
  readonly #documents = new LRUCache<string, string>({ max: 64 })
  readonly #static = new LRUCache<string, StaticPicture>({
    maxSize: MAX_STATIC_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  })
  readonly #drawing = new Map<string, Promise<StaticPicture>>()

  constructor(needs: PicturesNeeds) {
    this.#needs = needs
    this.available = needs.settings.rendering && existsSync(needs.settings.chromiumPath)
  }

  /** Opens rendered tiles, which are drawn in squares and kept; null: the version is of something else, or its style is not drawn. */
  open(version: CatalogVersion, cache: BlockCache, cached: CachedReader | null): Source | null {
    const picture = pictureOf(version)
    if (picture === undefined || !this.available) return null
    const { style, kind } = picture
    const { format } = kind
    return new KeptTiles({
      key: `pictures\n${style.signedAs}\n${version.stored.version}\n${this.#revisionOf(style)}`,
      format,
      extension: format,
      cache,
      cached,
      make: (place, { caller }) => this.#square(style, kind, place, caller),
      ttlMs: style.isLasting ? ALWAYS : CURRENT_MS,
      staleMs: ALWAYS,
      absentMs: 0,
      squareTiles: tilesInRow(kind.tileSize, kind.ratio),
      keepsTags: false,
      tellsAge: !style.isLasting,
    })
  }

  /** Draws a static picture, or returns it from memory. Rejects with `TileNotMade`. */
  static(style: DrawnStyle, asked: StaticRequest, caller: string): Promise<StaticPicture> {
    const key = `${style.signedAs} ${this.#momentOf(style)} ${JSON.stringify(asked)}`
    const kept = this.#static.get(key)
    if (kept !== undefined) return Promise.resolve(kept)
    const running = this.#drawing.get(key)
    if (running !== undefined) return running
    const drawing = this.#draw(style, { ...asked, margin: 0, pieces: 1, isForTiles: false }, caller)
      .then(([bytes = new Uint8Array(0)]) => {
        const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
        const picture = { bytes, type: MEDIA[asked.format], etag }
        this.#static.set(key, picture)
        return picture
      })
      .finally(() => this.#drawing.delete(key))
    this.#drawing.set(key, drawing)
    return drawing
  }

  async #square(style: DrawnStyle, kind: PictureKind, place: TilePlace, caller: string): Promise<MadeTile[]> {
    const { format, tileSize, ratio } = kind
    const { tiles, side, view, size, margin } = squareOf(place, tileSize, ratio)
    const asked = { view, width: size, height: size, ratio, format, margin, pieces: side, overlay: NO_OVERLAY }
    const pieces = await this.#draw(style, { ...asked, isForTiles: true }, caller)
    return tiles.map((tile, i) => ({ place: tile, bytes: pieces[i] as Uint8Array }))
  }

  async #draw(
    style: DrawnStyle,
    {
      isForTiles,
      ...asked
    }: Omit<DrawTask, 'style' | 'revision' | 'loading' | 'browser'> & {
      readonly view: DrawnView
      readonly isForTiles: boolean
    },
    caller: string,
  ): Promise<readonly Uint8Array[]> {
    const { settings, signed, draw, log } = this.#needs
    // biome-ignore lint/plugin: calendar, by which the credential expires
    const credential = signed.signStyle(style.signedAs, Math.floor(Date.now() / 1000) + OPENED_SECONDS)
    if (credential === null) throw notNow(coded('store_unreachable_again'))
    const revision = `${style.signedAs} ${this.#momentOf(style)} ${isForTiles}`
    const drawn = await draw(
      {
        ...asked,
        style: this.#documentOf(style, revision, isForTiles),
        revision,
        loading: {
          gateway: edgeUrl(settings),
          bases: [...new Set([DRAWN_BASE, settings.tilePublicBaseUrl, settings.vectorPublicBaseUrl])],
          credential,
          hosts: settings.renderHosts,
        },
        browser: { program: settings.chromiumPath },
      },
      caller,
    )
    if (drawn === 'busy') throw notNow(coded('pictures_full'))
    if (drawn.ok) return drawn.pieces
    noteTrouble(log, 'a style cannot be drawn', { style: style.code, reason: drawn.reason })
    throw notNow(coded('picture_failed'), drawn.reason)
  }

  #documentOf(style: DrawnStyle, revision: string, isForTiles: boolean): string {
    const before = this.#documents.get(revision)
    if (before !== undefined) return before
    const made = pictureDocument(style, this.#needs.fontRevision(), isForTiles)
    this.#documents.set(revision, made)
    return made
  }

  /** The renderer keeps what it has loaded for as long as this text does not change. */
  #momentOf(style: DrawnStyle): string {
    const moment = style.isLasting ? '' : ` ${Math.floor(performance.now() / CURRENT_MS)}`
    return `${this.#revisionOf(style)}${moment}`
  }

  #revisionOf({ content }: DrawnStyle): string {
    return `${content} ${this.#needs.fontRevision()}`
  }
}

function notNow(said: CodedMessage, detail?: string): TileNotMade {
  return new TileNotMade(503, said, { retryAfterSeconds: RETRY_SECONDS, words: detail })
}
