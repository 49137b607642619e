import type { FilePart } from '@gateway/tilesets/source.js'
import type { DiskGate } from '../files/disk-gate.js'
import { AS_FILE_BYTES, UnnamedFile } from '../files/unnamed-file.js'
import type { BuiltDocument } from './build-document.js'

/**
 * The bytes of a finished document, which all of its readers share: in memory, or in a file without a name, which is deleted with its last
 * reader.
 */
export class HeldDocument {
  readonly bytes: number
  readonly etag: string
  readonly isGzip: boolean
  readonly #body: Buffer | null
  readonly #file: UnnamedFile | null
  readonly #onGone: () => void
  #users = 1

  private constructor(body: Buffer, file: UnnamedFile | null, etag: string, isGzip: boolean, onGone: () => void) {
    this.bytes = body.length
    this.#body = file === null ? body : null
    this.#file = file
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
    const file = body.length < AS_FILE_BYTES ? null : await UnnamedFile.write(disks, folder, [body])
    return new HeldDocument(body, file, etag, isGzip, onGone)
  }

  /** Adds a user, who must call `leave`. */
  use(): this {
    this.#users++
    return this
  }

  leave(): void {
    this.#users--
    if (this.#users > 0) return
    this.#file?.close()
    this.#onGone()
  }

  /** Returns the body for one response: a part that must be released, or the bytes in memory. */
  forAnswer(): FilePart | Uint8Array {
    if (this.#file === null) return this.#body as Buffer
    this.use()
    return { fd: this.#file.fd, offset: 0, length: this.bytes, release: () => this.leave() }
  }
}
