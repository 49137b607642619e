import { createHash } from 'node:crypto'
import { access, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readBelow, whyNotRead } from '@gateway/core/files/read-below.js'
import type { Log } from '@gateway/core/logging/log.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { type HelperPool, TaskEnded } from '@gateway/core/processes/helper-pool.js'
import type { StoredSprite, StoredStyle } from '@gateway/store/styles.js'
import { type AssetAnswer, type AssetTask, assetPool, drawingsTask, wordsOf } from '@gateway/styles/asset-pool.js'
import { fallbackNames, SYSTEM } from '@gateway/styles/fallback-fonts.js'
import type { FontFace } from '@gateway/styles/fonts.js'
import { shippedFonts } from '@gateway/styles/shipped-fonts.js'
import { systemFontFiles } from '@gateway/styles/system-fonts.js'
import { LRUCache } from 'lru-cache'
import type { DiskGate } from '../files/disk-gate.js'
import type { Catalog } from '../sync/catalog.js'
import { FailedAssets } from './failed-assets.js'

/** Limit: bytes of finished glyph ranges and indexes of sprites in memory, in each process. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024
/** Limit: bytes of the index of a sprite, as scans have it. */
const MAX_INDEX_BYTES = 4 * 1024 * 1024
/** Helper processes of each edge process: one for a caller, and one for all others. Tiles come first. */
const PROCESSES = 2
/** Characters that the log names of those that no font has. */
const NAMED_CHARACTERS = 8
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

/** A sprite that cannot be drawn, with the reason; or the names of its files below `StyleAssets.folder`. */
type DrawnSprite =
  | { readonly ok: true; readonly json: string; readonly png: string }
  | { readonly ok: false; readonly reason: string }

/**
 * Glyph ranges and sprites: generated once for each content, by processes that may be killed, and cached on disk; the last ranges also in memory.
 * Content that ends its process is remembered and not tried again.
 */
export class StyleAssets {
  readonly folder: string
  readonly #log: Log
  readonly #disks: DiskGate
  readonly #shipped: readonly FontFace[]
  readonly #fonts = new WeakMap<Catalog['fonts'], Fonts>()
  readonly #kept = new LRUCache<string, Finished>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ plain, packed }, key) => plain.length + packed.length + key.length,
  })
  readonly #failed: FailedAssets
  readonly #pool: HelperPool<AssetTask, AssetAnswer>
  /** Changes with the fonts that the system has. */
  readonly #systemFiles: string
  /** First code points of the ranges whose missing characters the log has named. */
  readonly #named = new Set<number>()
  /** Characters that are boxes in ranges that this process made. */
  missingGlyphs = 0

  /** @param stepMs limit of one font or drawing, if not the default */
  constructor(folder: string, log: Log, disks: DiskGate, stepMs?: number) {
    this.folder = folder
    this.#log = log
    this.#disks = disks
    this.#shipped = shippedFonts()
    this.#systemFiles = systemFontFiles().join('\n')
    this.#failed = new FailedAssets(folder)
    this.#pool = assetPool(PROCESSES, stepMs)
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
   * Returns one range of a stack of fonts: the first font with a glyph determines it; the gateway's own fonts come after all others, and then the
   * system's. A character that none of them has is a box. Rejects with PoolBusy.
   * @param caller whose request it is
   */
  async range(catalog: Catalog, stack: readonly string[], first: number, caller: string): Promise<Finished> {
    const fonts = this.#fontsOf(catalog)
    const key = keyOf(fonts, stack, first)
    const names = new Set([...stack, ...fallbackNames(stack[0] ?? '')])
    let withSystem = true
    let used = [...names].flatMap((name) => fonts.byName.get(name) ?? [])
    const faults = await Promise.all(used.map((font) => this.#failed.reasonOf(identityOf(font))))
    used = used.filter((_, i) => faults[i] === null)
    await mkdir(this.folder, { recursive: true }).catch(() => {})
    for (;;) {
      const known = this.#kept.get(key)
      if (known !== undefined) return known
      try {
        const asked = used.map((font) => ({ ...font, kept: this.#keptFile(font, first) }))
        const task = { kind: 'range', name: stack.join(','), first, fonts: asked, withSystem } as const
        const made = await this.#pool.run(`${key} of ${used.map(({ name }) => name)} ${withSystem}`, task, caller)
        if (!made.ok) throw new Error(made.reason)
        for (const { name, reason } of made.leftOut) this.#noteFont(name, reason)
        this.#noteBoxes(made.boxes, stack, first)
        const finished = { plain: bufferOf(made.plain), packed: bufferOf(made.packed), digest: digest(made.plain) }
        this.#kept.set(key, finished)
        return finished
      } catch (error) {
        if (error instanceof TaskEnded && error.at === SYSTEM && withSystem) {
          withSystem = false
          this.#noteFont(SYSTEM, error.message)
          continue
        }
        const font = error instanceof TaskEnded ? used.find(({ name }) => name === error.at) : undefined
        if (font === undefined) throw error
        const { message, mayPass } = error as TaskEnded
        await this.#failed.add(identityOf(font), message, mayPass)
        this.#noteFont(font.name, message)
        // The next font of the stack replaces it.
        used = used.filter((one) => one !== font)
      }
    }
  }

  /**
   * Returns the index of a sprite: drawn, or read from its file; null if the file does not exist. Rejects like `range`, or with the error of the
   * disk.
   */
  async spriteIndex(
    stored: StoredStyle,
    sprite: StoredSprite,
    ratio: 1 | 2,
    caller: string,
  ): Promise<{ readonly ok: true; readonly index: Finished } | { readonly ok: false; readonly reason: string } | null> {
    let plain: Buffer | null
    if (sprite.kind === 'files') {
      const file = `${sprite.path}${ratio === 2 && sprite.doubled ? '@2x' : ''}.json`
      plain = await this.#indexFile(stored.sourcePath, file)
    } else {
      const drawn = await this.drawnSprite(stored, sprite, ratio, caller)
      if (!drawn.ok) return drawn
      plain = await readFile(path.join(this.folder, drawn.json))
    }
    return plain === null ? null : { ok: true, index: await this.#finishedIndex(plain) }
  }

  async #finishedIndex(plain: Buffer): Promise<Finished> {
    const key = `index ${digest(plain)}`
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const finished = { plain, packed: await compress(plain), digest: digest(plain) }
    this.#kept.set(key, finished)
    return finished
  }

  async #indexFile(root: string, file: string): Promise<Buffer | null> {
    const answer = await this.#disks.run(root, { read: () => readBelow(root, file, MAX_INDEX_BYTES) })
    if (!answer.ok) throw new Error('the disk does not answer')
    const read = answer.value
    if (read.ok) return read.content
    if (read.reason === 'absent' || read.reason === 'outside') return null
    throw new Error(whyNotRead(read.reason, MAX_INDEX_BYTES))
  }

  /** Draws a sprite from its folder, unless its files exist. Rejects like `range`. */
  async drawnSprite(stored: StoredStyle, sprite: StoredSprite, ratio: 1 | 2, caller: string): Promise<DrawnSprite> {
    const { sourcePath: root, fingerprint, code } = stored
    const key = `sprite-${digest(`${sprite.path}\n${fingerprint}`)}-${ratio}`
    const files = { json: `${key}.json`, png: `${key}.png` }
    const isMade = async (file: string) =>
      access(path.join(this.folder, file)).then(
        () => true,
        () => false,
      )
    // The index is written last.
    if ((await isMade(files.png)) && (await isMade(files.json))) return { ok: true, ...files }
    const fault = await this.#failed.reasonOf(key)
    if (fault !== null) return { ok: false, reason: fault }
    await mkdir(this.folder, { recursive: true }).catch(() => {})
    const to = { json: path.join(this.folder, files.json), png: path.join(this.folder, files.png) }
    const outcome = await drawingsTask((without) => {
      const names = sprite.icons.filter((name) => !without.has(name))
      const task = { kind: 'sprite', root, folder: sprite.path, names, ratio, ...to } as const
      return this.#pool.run(`${key} without ${without.size}`, task, caller)
    })
    const reason = outcome.ok ? wordsOf(outcome.leftOut) : outcome.reason
    if (reason !== '') noteTrouble(this.#log, 'drawings of a style cannot be used', { style: code, reason })
    if (outcome.ok) return { ok: true, ...files }
    await this.#failed.add(key, reason, outcome.mayPass)
    return outcome
  }

  close(): void {
    this.#pool.close()
  }

  #keptFile(font: FontFace, first: number): string | null {
    return font.kind === 'ranges' ? null : path.join(this.folder, `${identityOf(font)}-${first}.pbf`)
  }

  /** Counts boxes, and names those of each range once in the log: the range is made again for each stack. */
  #noteBoxes(boxes: readonly number[], stack: readonly string[], first: number): void {
    this.missingGlyphs += boxes.length
    if (boxes.length === 0 || this.#named.has(first)) return
    this.#named.add(first)
    const characters = String.fromCodePoint(...boxes.slice(0, NAMED_CHARACTERS))
    const range = `${first}-${first + 255}`
    const detail = { fonts: stack.join(','), range, missing: boxes.length, characters }
    this.#log.warn(detail, 'no font has some characters of a range: labels show them as boxes')
  }

  #noteFont(font: string, reason: string): void {
    noteTrouble(this.#log, 'fonts cannot be read', { font, reason })
  }

  #fontsOf({ fonts }: Catalog): Fonts {
    const known = this.#fonts.get(fonts)
    if (known !== undefined) return known
    const byName = new Map<string, FontFace>()
    for (const font of [...fonts, ...this.#shipped]) if (!byName.has(font.name)) byName.set(font.name, font)
    const all = [...[...byName.values()].map((font) => JSON.stringify(font)), this.#systemFiles]
    const revision = digest(all.join('\n')).slice(0, 12)
    const made = { byName, revision }
    this.#fonts.set(fonts, made)
    return made
  }
}

function keyOf({ revision }: Fonts, stack: readonly string[], first: number): string {
  return `${revision} ${first} ${stack.join(',')}`
}

/** Identifies a font and its content. */
function identityOf({ path: at, face, weight, fingerprint }: FontFace): string {
  return `glyphs-${digest(`${at}\n${face}\n${weight ?? ''}\n${fingerprint}`)}`
}

function bufferOf(part: Uint8Array): Buffer {
  return Buffer.from(part.buffer, part.byteOffset, part.byteLength)
}

function digest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 27)
}
