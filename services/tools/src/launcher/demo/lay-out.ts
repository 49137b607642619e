import { execFile } from 'node:child_process'
import { access, cp, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { STYLES } from './sources.js'

const MAKE = fileURLToPath(new URL('./make.js', import.meta.url))

/** Suffix of the folder's name while it is being made. */
const UNFINISHED = '.unfinished-'

/** Time limit: it takes three seconds on one core. On a very slow disk an error is more useful than a longer wait. */
const MAKE_WITHIN_MS = 120_000

const run = promisify(execFile)

export interface DemoRoots {
  readonly basemapRoot: string
  readonly vectorRoot: string
  readonly styleRoot: string
}

/**
 * Makes the demo data under `dir`, unless it exists: basemaps of the world in three kinds of storage, countries in two vector
 * formats, a style of both, and an image to slice, some 25 MB. It is made in another folder and renamed, so an existing `dir` is always complete. Leftovers of an
 * earlier start are removed. Only one process at a time may call this for one `dir`. Throws if the data cannot be made.
 */
export async function layOutDemoData(dir: string): Promise<DemoRoots> {
  if (!(await exists(dir))) await make(dir)
  const styleRoot = join(dir, 'styles')
  // Data that an earlier release made has none.
  if (!(await exists(styleRoot))) await cp(STYLES, styleRoot, { recursive: true })
  return { basemapRoot: join(dir, 'basemaps'), vectorRoot: join(dir, 'vectors'), styleRoot }
}

async function make(dir: string): Promise<void> {
  const parent = dirname(dir)
  const unfinished = basename(dir) + UNFINISHED
  await mkdir(parent, { recursive: true })
  for (const name of await readdir(parent)) {
    if (name.startsWith(unfinished)) await rm(join(parent, name), { recursive: true, force: true })
  }
  const folder = join(parent, `${unfinished}${process.pid}`)
  try {
    await run(process.execPath, [MAKE, folder], { timeout: MAKE_WITHIN_MS, killSignal: 'SIGKILL' })
    await rename(folder, dir)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
