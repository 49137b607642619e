import { execFile } from 'node:child_process'
import { mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

const CHUNKS = [1 << 20, 1 << 12]

/** A separate file system in memory that can be filled to its last page. */
export class SmallDisk {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** null: this process lacks the right to mount. */
  static async mount(megabytes: number): Promise<SmallDisk | null> {
    const path = await mkdtemp(join(tmpdir(), 'gateway-test-disk-'))
    try {
      await execute('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'gateway-test', path])
      return new SmallDisk(path)
    } catch {
      await rmdir(path)
      return null
    }
  }

  async fill(): Promise<void> {
    const file = await open(this.#filler, 'w')
    for (const size of CHUNKS) {
      const chunk = Buffer.alloc(size)
      while (await written(file.write(chunk))) {}
    }
    await file.close()
  }

  async free(): Promise<void> {
    await rm(this.#filler)
  }

  async remove(): Promise<void> {
    await execute('umount', ['--lazy', this.path])
    await rmdir(this.path)
  }

  get #filler(): string {
    return join(this.path, 'filler')
  }
}

/** false: the disk is full. */
async function written(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
