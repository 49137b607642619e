import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import type { Log } from '@gateway/core/logging/log.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { StoredSprite, StoredStyle } from '@gateway/store/styles.js'
import type { AssetParts, AssetTask } from '@gateway/styles/build-assets.js'
import { fallbackNames } from '@gateway/styles/fallback-fonts.js'
import type { FontFace } from '@gateway/styles/fonts.js'
import {
  type Glyph,
  MAX_RANGE_BYTES,
  mergeGlyphs,
  readGlyphRange,
  writeGlyphRange,
} from '@gateway/styles/glyph-range.js'
import { shippedFonts } from '@gateway/styles/shipped-fonts.js'
import { LRUCache } from 'lru-cache'
import type { Piscina } from 'piscina'
import type { DiskGate } from '../files/disk-gate.js'
import type { Catalog } from '../sync/catalog.js'
import { readBelow } from './read-below.js'

const BUILDER = createRequire(import.meta.url).resolve('@gateway/styles/build-assets.js')

/** Limit: bytes of finished glyph ranges and indexes of sprites in memory, in each process. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024
/** Limit: bytes of the index of a sprite, as scans have it. */
const MAX_INDEX_BYTES = 4 * 1024 * 1024
/** One thread in each edge process: tiles come first. */
const THREADS = 1
const IDLE_THREAD_MS = 30_000
/** Limit: ranges and sprites that wait for the thread. */
const MAX_WAITING = 256
/** Limit of one range or sprite. The largest ranges of CJK fonts take a second; a font that was made to never end must not block the others. */
const BUILD_LIMIT_MS = 30_000
/** Time in ms before a font or sprite that exceeded the limit is built again. */
const REST_MS = 10 * 60_000

const RANGE_GLYPHS = 256

const compress = promisify(gzip)

/** A body, uncompressed and compressed. */
export interface Finished {
  readonly plain: Buffer
  readonly packed: Buffer
  /** Opaque part of entity tags, without quotes. */
  readonly digest: string
}

/** The fonts of a catalog, by name. */
interface Fonts {
  readonly byName: ReadonlyMap<string, FontFace>
  /** Changes with every change of a font. */
  readonly revision: string
}

/** Thrown if a font or sprite took longer than its limit, now or a short time ago. */
class BuildTooSlow extends Error {
  override readonly name = 'BuildTooSlow'
}

/** Thrown if too much work waits for the thread. */
export class AssetsBusy extends Error {
  override readonly name = 'AssetsBusy'
}

/** Glyph ranges and sprites: generated once for each content, in a separate thread, and cached on disk; the last ranges also in memory. */
export class StyleAssets {
  readonly #folder: string
  readonly #log: Log
  readonly #disks: DiskGate
  readonly #shipped: readonly FontFace[]
  readonly #fonts = new WeakMap<Catalog['fonts'], Fonts>()
  readonly #kept = new LRUCache<string, Finished>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ plain, packed }, key) => plain.length + packed.length + key.length,
  })
  readonly #under = new Map<string, Promise<unknown>>()
  /** Files that exceeded the limit, with their content's identity. */
  readonly #slow = new LRUCache<string, true>({ max: 1000, ttl: REST_MS })
  readonly #limitMs: number
  #threads: Promise<Piscina<AssetTask, AssetParts>> | null = null
  #waiting = 0
  /** The last task. The limit of each task begins with its turn. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(folder: string, log: Log, disks: DiskGate, limitMs = BUILD_LIMIT_MS) {
    this.#folder = folder
    this.#log = log
    this.#disks = disks
    this.#limitMs = limitMs
    this.#shipped = shippedFonts()
  }

  /** Returns a text that changes with every change of a font of the catalog. */
  revisionOf(catalog: Catalog): string {
    return this.#fontsOf(catalog).revision
  }

  /** A range that needs no waiting. */
  rangeIfKept(catalog: Catalog, stack: readonly string[], first: number): Finished | undefined {
    return this.#kept.get(keyOf(this.#fontsOf(catalog), stack, first))
  }

  /**
   * Returns one range of a stack of fonts: the first font with a glyph determines it; the gateway's own fonts come after all others. Rejects
   * with AssetsBusy, or with the error of a disk.
   */
  range(catalog: Catalog, stack: readonly string[], first: number): Promise<Finished> {
    const fonts = this.#fontsOf(catalog)
    return this.#finished(keyOf(fonts, stack, first), async () => {
      let merged: ReadonlyMap<number, Glyph> = new Map()
      for (const name of new Set([...stack, ...fallbackNames(stack[0] ?? '', first)])) {
        const font = fonts.byName.get(name)
        if (font === undefined) continue
        merged = mergeGlyphs([merged, await this.#glyphs(font, first)])
        // Further fonts would add nothing.
        if (merged.size === RANGE_GLYPHS) break
      }
      return Buffer.from(writeGlyphRange(stack.join(','), first, merged))
    })
  }

  /**
   * Returns the index of a sprite: drawn, or read from its file; null if the file does not exist. Rejects like `range`, or with the error of the
   * disk.
   */
  async spriteIndex(stored: StoredStyle, sprite: StoredSprite, ratio: 1 | 2): Promise<Finished | null> {
    const { sourcePath, fingerprint } = stored
    const file = `${sprite.path}${ratio === 2 && sprite.doubled ? '@2x' : ''}.json`
    const plain =
      sprite.kind === 'files'
        ? await readBelow(this.#disks, sourcePath, file, MAX_INDEX_BYTES)
        : await this.drawnSprite(sprite, fingerprint, ratio, 'json')
    return plain === null ? null : this.#finished(`index ${digest(plain)}`, async () => plain)
  }

  /** The index (`json`) or image (`png`) of a sprite that is drawn from a folder. Rejects as `range`. */
  async drawnSprite(
    sprite: StoredSprite,
    fingerprint: string,
    ratio: 1 | 2,
    extension: 'json' | 'png',
  ): Promise<Buffer> {
    const of = `sprite-${digest(`${sprite.path}\n${fingerprint}`)}`
    const key = `${of}-${ratio}`
    const parts = await this.#once(key, () =>
      this.#built(of, key, ['json', 'png'], { kind: 'sprite', folder: sprite.path, names: sprite.icons, ratio }),
    )
    return parts[extension === 'json' ? 0 : 1] as Buffer
  }

  async close(): Promise<void> {
    await (await this.#threads)?.destroy()
  }

  async #glyphs(font: FontFace, first: number): Promise<ReadonlyMap<number, Glyph>> {
    const { kind, root, path: at, fingerprint, face, name } = font
    try {
      if (kind === 'ranges') {
        const file = path.join(at, `${first}-${first + 255}.pbf`)
        const bytes = await readBelow(this.#disks, root, file, MAX_RANGE_BYTES)
        return bytes === null ? new Map() : readGlyphRange(bytes, first)
      }
      const of = `glyphs-${digest(`${at}\n${face}\n${fingerprint}`)}`
      const key = `${of}-${first}`
      const task = { kind: 'glyphs', path: at, face, name, first } as const
      const [range] = await this.#once(key, () => this.#built(of, key, ['pbf'], task))
      return readGlyphRange(range as Buffer, first)
    } catch (error) {
      if (error instanceof AssetsBusy) throw error
      // Another font of the stack replaces it.
      noteTrouble(this.#log, 'fonts cannot be read', { font: name, path: at, err: (error as Error).message })
      return new Map()
    }
  }

  /** Returns the files of a build, from the disk if they exist. @param of key of the font face or drawings */
  async #built(of: string, name: string, extensions: readonly string[], task: AssetTask): Promise<readonly Buffer[]> {
    const files = extensions.map((extension) => path.join(this.#folder, `${name}.${extension}`))
    const known = await Promise.all(files.map((file) => readFile(file).catch(() => null)))
    if (known.every((content) => content !== null)) return known as Buffer[]
    const parts = (await this.#run(of, task)).map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength))
    try {
      await mkdir(this.#folder, { recursive: true })
      for (const [i, file] of files.entries()) await writeFileAtomically(file, parts[i] as Buffer)
    } catch (error) {
      // On a full disk it is built again the next time.
      noteTrouble(this.#log, 'glyphs and sprites cannot be kept on disk', { err: (error as Error).message })
    }
    return parts
  }

  async #run(of: string, task: AssetTask): Promise<AssetParts> {
    if (this.#waiting >= MAX_WAITING) throw new AssetsBusy()
    this.#waiting++
    const turn = this.#last.then(() => this.#runNow(of, task))
    this.#last = turn.catch(() => {})
    return turn.finally(() => this.#waiting--)
  }

  async #runNow(of: string, task: AssetTask): Promise<AssetParts> {
    if (this.#slow.has(of)) throw new BuildTooSlow(`not built: it took longer than ${this.#limitMs / 1000} s before`)
    this.#threads ??= import('piscina').then(
      ({ Piscina }) =>
        new Piscina({ filename: BUILDER, minThreads: 0, maxThreads: THREADS, idleTimeout: IDLE_THREAD_MS }),
    )
    const threads = await this.#threads
    const late = AbortSignal.timeout(this.#limitMs)
    try {
      // The signal ends the thread; the next task starts another.
      return await threads.run(task, { signal: late })
    } catch (error) {
      if (!late.aborted) throw error
      this.#slow.set(of, true)
      throw new BuildTooSlow(`it takes longer than ${this.#limitMs / 1000} s`)
    }
  }

  #finished(key: string, make: () => Promise<Buffer>): Promise<Finished> {
    const kept = this.#kept.get(key)
    if (kept !== undefined) return Promise.resolve(kept)
    return this.#once(`finished ${key}`, async () => {
      const plain = await make()
      const finished = { plain, packed: await compress(plain), digest: digest(plain) }
      this.#kept.set(key, finished)
      return finished
    })
  }

  /** Requests for one thing share its making. */
  #once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#under.get(key) as Promise<T> | undefined
    if (known !== undefined) return known
    const making = make().finally(() => this.#under.delete(key))
    this.#under.set(key, making)
    return making
  }

  #fontsOf({ fonts }: Catalog): Fonts {
    const known = this.#fonts.get(fonts)
    if (known !== undefined) return known
    const byName = new Map<string, FontFace>()
    for (const font of [...fonts, ...this.#shipped]) if (!byName.has(font.name)) byName.set(font.name, font)
    const revision = digest([...byName.values()].map((font) => JSON.stringify(font)).join('\n')).slice(0, 12)
    const made = { byName, revision }
    this.#fonts.set(fonts, made)
    return made
  }
}

function keyOf({ revision }: Fonts, stack: readonly string[], first: number): string {
  return `${revision} ${first} ${stack.join(',')}`
}

function digest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 27)
}
