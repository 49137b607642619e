import { type CachedFileAddon, loadAddon } from '../addon.js'

/** What was found of a file whose path was in the kernel's caches. */
export interface CachedFile {
  /** without symbolic links, as /proc says */
  readonly realPath: string
  readonly isFile: boolean
  /** to be closed by the caller; null: a small file, closed again, or no plain file */
  readonly fd: number | null
  /** of a small file */
  readonly content: Uint8Array | null
  readonly size: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
}

const DONE = 0
const ABSENT = 1
/** The fifth of the facts. */
const NO_FILE = 0n
const OPEN = 1n
const READ = 2n

/**
 * Opens and reads files as far as the kernel has them in memory, and never waits for a disk (openat2 with RESOLVE_CACHED, preadv2 with
 * RWF_NOWAIT): one call where the ordinary way takes six. For local file systems alone: where files live on another machine, even opening
 * what is cached may ask that machine.
 */
export class CachedFiles {
  readonly #addon: CachedFileAddon
  readonly #facts = new BigInt64Array(5)
  /** Files are read into this and copied out of it, so that what cannot be read now costs no memory. */
  readonly #target: Buffer

  private constructor(addon: CachedFileAddon, limit: number) {
    this.#addon = addon
    this.#target = Buffer.allocUnsafeSlow(limit)
  }

  /** Files of up to `limit` bytes are read when they are opened. Answers why not where the addon is missing. */
  static load(limit: number): CachedFiles | string {
    const addon = loadAddon()
    if (typeof addon === 'string') return addon
    return typeof addon.openCached === 'function' ? new CachedFiles(addon, limit) : 'the addon is an older one'
  }

  /** `file`: an absolute path. `not_now` says nothing about it: not in memory, or anything else that the ordinary way must judge. */
  open(file: string): CachedFile | 'absent' | 'not_now' {
    const found = this.#addon.openCached(file, this.#target, this.#facts)
    if (typeof found === 'number') return found === ABSENT ? 'absent' : 'not_now'
    const kind = this.#facts[4]!
    const size = this.#facts[1]!
    return {
      realPath: found,
      isFile: kind !== NO_FILE,
      fd: kind === OPEN ? Number(this.#facts[0]) : null,
      content: kind === READ ? copyOf(this.#target, Number(size)) : null,
      size,
      ino: this.#facts[2]!,
      mtimeNs: this.#facts[3]!,
    }
  }

  /** null: not all of it is in memory, or the file ends before. */
  read(fd: number, offset: number, length: number): Uint8Array | null {
    const content = Buffer.allocUnsafeSlow(length)
    return this.#addon.readCached(fd, offset, content) === DONE ? content : null
  }
}

/** With memory of its own: what is kept for long must not keep a pool alive. */
function copyOf(source: Buffer, length: number): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(length)
  source.copy(copy, 0, 0, length)
  return copy
}
