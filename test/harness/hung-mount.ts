import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const DAEMON = fileURLToPath(new URL('fuse-daemon.mjs', import.meta.url))

/** A directory that can be made to hang: a FUSE mount whose process is stopped. */
export class HungMount {
  readonly path: string
  readonly #daemon: ChildProcess
  readonly #ended: Promise<unknown>

  private constructor(path: string, daemon: ChildProcess) {
    this.path = path
    this.#daemon = daemon
    this.#ended = once(daemon, 'exit')
  }

  /** Shows a directory, which must not be empty, at a path of its own. null: this machine or this user may not mount. */
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

  /** From now on whoever asks for anything below the path waits. */
  hang(): void {
    this.#daemon.kill('SIGSTOP')
  }

  goOn(): void {
    this.#daemon.kill('SIGCONT')
  }

  /** Everybody who waits gets an error. */
  async remove(): Promise<void> {
    this.#daemon.kill('SIGKILL')
    await this.#ended
    spawnSync('umount', ['-l', this.path])
    await rmdir(this.path)
  }
}
