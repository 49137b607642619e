import { CodedError, coded } from '@gateway/contracts/messages.js'
import { FairLanes, type Release } from '@gateway/core/lanes/fair-lanes.js'
import type { FilePart } from '@gateway/tilesets/source.js'
import type { DiskGate } from './disk-gate.js'
import { AS_FILE_BYTES, UnnamedFile } from './unnamed-file.js'

/** Limit: bodies in files of one process, from the first byte until they are sent. One caller has at most half of them. */
const MAX_FILES = 32

const lanes = new FairLanes(MAX_FILES, 0)

/** Thrown if too many bodies are in files, or if the disk is full or does not respond. */
export class NotSpooled extends CodedError {}

/** The body of a response that is made before it is sent, because its head depends on its end. */
export class SpooledBody {
  readonly #disks: DiskGate
  readonly #folder: string
  readonly #caller: string
  #parts: Uint8Array[] = []
  #partBytes = 0
  #file: UnnamedFile | null = null
  #leave: Release | null = null

  /**
   * @param folder for the file
   * @param caller whose response it is, for example the id of a token
   */
  constructor(disks: DiskGate, folder: string, caller: string) {
    this.#disks = disks
    this.#folder = folder
    this.#caller = caller
  }

  /** Adds bytes at the end. Throws `NotSpooled`. */
  async add(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return
    this.#parts.push(bytes)
    this.#partBytes += bytes.length
    if (this.#partBytes >= AS_FILE_BYTES) await this.#write()
  }

  /** Returns the body: a part of a file, which the caller must release, or bytes. Throws `NotSpooled`. */
  async end(): Promise<FilePart | Uint8Array> {
    if (this.#file === null) return Buffer.concat(this.#parts)
    if (this.#parts.length > 0) await this.#write()
    const [file, leave] = [this.#file, this.#leave]
    this.#file = null
    this.#leave = null
    const release = () => {
      file.close()
      leave?.()
    }
    return { fd: file.fd, offset: 0, length: file.length, release }
  }

  /** Gives up a body that has not been returned. May always be called at the end. */
  discard(): void {
    this.#file?.close()
    this.#file = null
    this.#leave?.()
    this.#leave = null
  }

  async #write(): Promise<void> {
    this.#leave ??= (await lanes.enter(this.#caller)) ?? null
    if (this.#leave === null) throw new NotSpooled(coded('large_responses_full'))
    const parts = this.#parts
    this.#parts = []
    this.#partBytes = 0
    const begun = this.#file
    this.#file = null
    this.#file = await UnnamedFile.write(this.#disks, this.#folder, parts, begun)
    if (this.#file === null) throw new NotSpooled(coded('large_response_unwritten'))
  }
}
