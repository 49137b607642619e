import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { FilePart } from '@gateway/tilesets/source.js'
import type { DiskGate } from '../files/disk-gate.js'
import type { BuiltDocument } from './build-document.js'

/** Size in bytes from which a file is sent faster than memory, and a slow reader costs no copy of it. Tiles have the same limit. */
const AS_FILE_BYTES = 64 * 1024

const openFile = promisify(fs.open)
const writeWhole = promisify(fs.writeFile)

/**
 * The bytes of a finished document, which all of its readers share: in memory, or in a file without a name, which is deleted with its last
 * reader.
 */
export class HeldDocument {
  readonly bytes: number
  readonly etag: string
  readonly isGzip: boolean
  readonly #body: Buffer | null
  readonly #fd: number | null
  readonly #onGone: () => void
  #users = 1

  private constructor(body: Buffer, fd: number | null, etag: string, isGzip: boolean, onGone: () => void) {
    this.bytes = body.length
    this.#body = fd === null ? body : null
    this.#fd = fd
    this.etag = etag
    this.isGzip = isGzip
    this.#onGone = onGone
  }

  /**
   * Makes a document whose first user is the caller.
   * @param folder for the file; if that fails (a full disk, one that hangs), the bytes stay in memory
   * @param onGone called when the last user has left
   */
  static async hold(
    { body, etag, isGzip }: BuiltDocument,
    disks: DiskGate,
    folder: string,
    onGone: () => void,
  ): Promise<HeldDocument> {
    const fd = body.length < AS_FILE_BYTES ? null : await inFile(disks, folder, body)
    return new HeldDocument(body, fd, etag, isGzip, onGone)
  }

  /** Adds a user, who must call `leave`. */
  use(): this {
    this.#users++
    return this
  }

  leave(): void {
    this.#users--
    if (this.#users > 0) return
    if (this.#fd !== null) fs.close(this.#fd)
    this.#onGone()
  }

  /** Returns the body for one response: a part that must be released, or the bytes in memory. */
  forAnswer(): FilePart | Uint8Array {
    if (this.#fd === null) return this.#body as Buffer
    this.use()
    return { fd: this.#fd, offset: 0, length: this.bytes, release: () => this.leave() }
  }
}

async function inFile(disks: DiskGate, folder: string, body: Buffer): Promise<number | null> {
  const work = { read: () => writeUnnamed(folder, body), discard: (fd: number) => fs.close(fd) }
  const written = await disks.run(folder, work).catch(() => null)
  return written?.ok === true ? written.value : null
}

async function writeUnnamed(folder: string, body: Buffer): Promise<number> {
  await mkdir(folder, { recursive: true })
  const name = path.join(folder, `${randomUUID()}.tmp`)
  const fd = await openFile(name, 'wx+', 0o600)
  try {
    await unlink(name)
    await writeWhole(fd, body)
    return fd
  } catch (error) {
    fs.close(fd)
    throw error
  }
}
