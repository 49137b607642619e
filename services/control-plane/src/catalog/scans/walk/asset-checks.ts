import { TaskEnded } from '@gateway/core/processes/helper-pool.js'
import { assetPool, type DrawingsOutcome, drawingsTask } from '@gateway/styles/asset-pool.js'

/** The only caller of its pool. */
const SCAN = 'scan'

/** Checks fonts and drawings in a process that may be killed, so that a bad one is a warning and not the end of the scan. */
export class AssetChecks {
  readonly #pool = assetPool(1)

  /** Why labels cannot be drawn from a font file; null: they can. */
  async fontFault(root: string, path: string): Promise<string | null> {
    try {
      const checked = await this.#pool.run(path, { kind: 'check font', root, path }, SCAN)
      return checked.ok ? null : checked.reason
    } catch (error) {
      return reasonOf(error)
    }
  }

  /** Finds the drawings of a folder of SVG files that cannot be used. */
  async drawings(root: string, folder: string, names: readonly string[]): Promise<DrawingsOutcome> {
    const run = (without: ReadonlySet<string>) => {
      const task = { kind: 'check drawings', root, folder, names: names.filter((name) => !without.has(name)) } as const
      return this.#pool.run(`${folder} ${without.size}`, task, SCAN)
    }
    return drawingsTask(run).catch((error: unknown) => ({ ok: false, reason: reasonOf(error), mayPass: true }))
  }

  close(): void {
    this.#pool.close()
  }
}

function reasonOf(error: unknown): string {
  const { message } = error as Error
  return error instanceof TaskEnded ? message : message.slice(0, 200)
}
