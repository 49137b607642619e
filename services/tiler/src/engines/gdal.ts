import { spawnSync } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { GDAL_CONFIGURATION } from '@gateway/contracts/tiling/gdal-configuration.js'
import { BARE_ENVIRONMENT, type Confinement } from '@gateway/core/processes/confinement.js'
import { runToEnd } from '@gateway/core/processes/run-to-end.js'
import {
  BESIDE_CONFIGURATION,
  besideName,
  type Engine,
  hasAnythingBeside,
  JPEG_2000_DRIVER,
  type OpenSource,
  SOURCE_DRIVERS,
  type TextSuffix,
  type ToolCall,
  type ToolOutcome,
} from './engine.js'

/** The first descriptor after stdin, stdout and stderr. */
const FIRST_DESCRIPTOR = 3

/** Minimum version. Older ones lack `-if`, the allow-list of drivers. */
const OLDEST_GDAL = [3, 4] as const

/** Maximum number of threads. More of them would wait for the disk and each other. */
const MAX_THREADS = 4

/** glibc keeps what a warp frees, so that it need not get the same pages again. The limit of memory holds all the same. */
const ALLOCATION = { MALLOC_MMAP_THRESHOLD_: String(2 ** 30), MALLOC_TRIM_THRESHOLD_: String(2 ** 30) }

/** Time limit of `gdalinfo --formats`. */
const FORMATS_MS = 20_000

/** Returns the system's GDAL, or `null` if none is usable. Needs Linux, for /proc/self/fd. */
export function systemGdal(temp: string, confined: Confinement, idleSeconds: number): Engine | null {
  if (process.platform !== 'linux') return null
  const version = /^GDAL (\d+)\.(\d+)[^\s,]*/.exec(ask('--version'))
  if (!version || !isRecent(Number(version[1]), Number(version[2]))) return null
  const drivers = [...ask('--formats').matchAll(/^ {2}(\S+) -raster/gm)].map((match) => match[1]!)
  const needed: string[] = [...SOURCE_DRIVERS, 'VRT']
  if (!needed.every((driver) => drivers.includes(driver))) return null
  const sourceDrivers = [...SOURCE_DRIVERS, ...(drivers.includes(JPEG_2000_DRIVER) ? [JPEG_2000_DRIVER] : [])]
  const used = [...sourceDrivers, 'VRT']
  const env = {
    ...BARE_ENVIRONMENT,
    ...GDAL_CONFIGURATION,
    ...ALLOCATION,
    // Only these drivers can open the files that our own VRT files refer to.
    GDAL_SKIP: drivers.filter((driver) => !used.includes(driver)).join(' '),
  }
  return {
    name: 'gdal',
    description: version[0],
    sourceDrivers,
    threads: Math.min(MAX_THREADS, availableParallelism()),
    sourceName: (source, index) =>
      hasAnythingBeside(source) ? join(folderOf(temp, source), besideName(index, '')) : descriptorName(index),
    tempName: (file) => join(temp, file),
    run: (call) => run(call, temp, confined, env, idleSeconds),
    close: () => {},
  }
}

function isRecent(major: number, minor: number): boolean {
  return major > OLDEST_GDAL[0] || (major === OLDEST_GDAL[0] && minor >= OLDEST_GDAL[1])
}

function ask(option: string): string {
  const { status, stdout } = spawnSync('gdalinfo', [option], { env: BARE_ENVIRONMENT, timeout: FORMATS_MS })
  return status === 0 ? stdout.toString('utf8') : ''
}

function descriptorName(position: number): string {
  return `/proc/self/fd/${FIRST_DESCRIPTOR + position}`
}

/** The folder in which GDAL sees a source together with what is next to it. A descriptor belongs to one source as long as it is open. */
function folderOf(temp: string, source: OpenSource): string {
  return join(temp, `source-${source.fd}`)
}

async function run(
  call: ToolCall,
  temp: string,
  confined: Confinement,
  env: Record<string, string>,
  idleSeconds: number,
): Promise<ToolOutcome> {
  const [command = call.tool, ...args] = [...confined.prefix, call.tool, ...call.args]
  const sources = call.sources ?? []
  const descriptors = sources.map(({ fd }) => fd)
  const accompanied = sources.filter(hasAnythingBeside)
  try {
    for (const [index, source] of sources.entries()) {
      if (hasAnythingBeside(source)) await layOut(folderOf(temp, source), source, index, descriptors)
    }
    return await runToEnd({
      command,
      args,
      env: accompanied.length > 0 ? { ...env, ...BESIDE_CONFIGURATION } : env,
      descriptors,
      ...(call.input === undefined ? {} : { input: call.input }),
      idleSeconds,
    })
  } finally {
    await Promise.all(accompanied.map((source) => rm(folderOf(temp, source), { recursive: true, force: true })))
  }
}

/** Fills the folder of a source with links to descriptors, which lead to the files that were checked. Adds those of its masks and overviews. */
async function layOut(
  folder: string,
  { beside: { texts, files } }: OpenSource,
  index: number,
  descriptors: number[],
): Promise<void> {
  await mkdir(folder)
  await symlink(descriptorName(index), join(folder, besideName(index, '')))
  for (const { suffix, fd } of files) {
    await symlink(descriptorName(descriptors.push(fd) - 1), join(folder, besideName(index, suffix)))
  }
  for (const [suffix, text] of Object.entries(texts)) {
    await writeFile(join(folder, besideName(index, suffix as TextSuffix)), text)
  }
}
