import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const DAEMON = fileURLToPath(new URL('fuse-daemon.mjs', import.meta.url))

/** A directory that can be made to hang: a FUSE mount whose process stops responding. */
export class HungMount {
  readonly path: string
  readonly #daemon: ChildProcess
  readonly #ended: Promise<unknown>

  private constructor(path: string, daemon: ChildProcess) {
    this.path = path
    this.#daemon = daemon
    this.#ended = once(daemon, 'exit')
  }

  /** Shows a directory, which must not be empty, at a new path. null: this machine or this user may not mount. */
  static async show(directory: string): Promise<HungMount | null> {
    const path = await mkdtemp(join(tmpdir(), 'gateway-hung-'))
    const daemon = spawn(process.execPath, [DAEMON, directory, path], { stdio: 'ignore' })
    const mount = new HungMount(path, daemon)
    while (daemon.exitCode === null && daemon.signalCode === null) {
      if ((await readdir(path)).length > 0) return mount
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await rmdir(path)
    return null
  }

  /** Makes all later requests below the path wait. */
  async hang(): Promise<void> {
    await writeFile(`${this.path}.hang`, '')
    // The daemon checks for the file after each request: this sends one, unless another request came first.
    void stat(join(this.path, 'wake up')).catch(() => {})
    while (!existsSync(`${this.path}.hangs`)) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async goOn(): Promise<void> {
    await rm(`${this.path}.hang`)
    while (existsSync(`${this.path}.hangs`)) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  /** Unmounts; all waiting requests get an error. */
  async remove(): Promise<void> {
    this.#daemon.kill('SIGKILL')
    await this.#ended
    spawnSync('umount', ['-l', this.path])
    for (const mark of ['.hang', '.hangs']) await rm(`${this.path}${mark}`, { force: true })
    await rmdir(this.path)
  }
}
