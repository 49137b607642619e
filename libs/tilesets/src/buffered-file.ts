import { type FileHandle, open } from 'node:fs/promises'
import { writeUnderTemporaryName } from '@gateway/core/files/write-atomically.js'

/** Small writes are collected up to this size, since a call for each tile would cost more than the tile. */
const GATHERED_BYTES = 1024 * 1024

/** Writes a file, which gets its name when it is complete and on the disk. If `write` rejects, no file is left. */
export async function writeBuffered<T>(file: string, write: (output: BufferedFile) => Promise<T>): Promise<T> {
  return writeUnderTemporaryName(file, async (temporary) => {
    const output = new BufferedFile(await open(temporary, 'wx+'))
    try {
      const result = await write(output)
      await output.sync()
      return result
    } finally {
      await output.handle.close()
    }
  })
}

/** A new file that is written from its beginning to its end, in large pieces. */
export class BufferedFile {
  readonly handle: FileHandle
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  /** number of written bytes, including collected ones */
  position = 0

  constructor(handle: FileHandle) {
    this.handle = handle
  }

  async write(data: Uint8Array): Promise<void> {
    this.#gathered.push(data)
    this.#gatheredBytes += data.length
    this.position += data.length
    if (this.#gatheredBytes >= GATHERED_BYTES) await this.flush()
  }

  /** Replaces bytes that were written before. */
  async overwrite(data: Uint8Array, position: number): Promise<void> {
    await this.flush()
    await this.handle.write(data, 0, data.length, position)
  }

  async sync(): Promise<void> {
    await this.flush()
    await this.handle.sync()
  }

  async flush(): Promise<void> {
    await this.handle.appendFile(Buffer.concat(this.#gathered, this.#gatheredBytes))
    this.#gathered = []
    this.#gatheredBytes = 0
  }
}
