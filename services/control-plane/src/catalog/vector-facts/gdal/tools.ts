import { spawnSync } from 'node:child_process'
import { GDAL_CONFIGURATION } from '@gateway/contracts/tiling/gdal-configuration.js'
import { BARE_ENVIRONMENT, confinement } from '@gateway/core/processes/confinement.js'

/** Limits of one run of ogr2ogr: memory, size of one output file, and time. */
const MEMORY_MB = 1024
const OUTPUT_MB = 1024
export const RUN_SECONDS = 60

/** Minimum version. Older ones also lack functions that the tiling tool needs; see its engines. */
const OLDEST_GDAL = [3, 4] as const
const ANSWER_MS = 20_000

/** GDAL's ogr2ogr on this machine, with its confinement: no network, a memory limit, and death with this process. */
export interface Ogr {
  readonly prefix: readonly string[]
  /** names of its drivers */
  readonly drivers: readonly string[]
  /** Returns the environment in which it has only one driver for reading, and GeoPackage for writing. */
  environment(driver: string): Readonly<Record<string, string>>
}

let found: Ogr | null | undefined

/** Returns null if no usable version is installed. Checks the machine once for each process. */
export function ogrHere(): Ogr | null {
  found ??= find()
  return found
}

function find(): Ogr | null {
  const version = /^GDAL (\d+)\.(\d+)/.exec(ask('--version'))
  if (process.platform !== 'linux' || version === null) return null
  const [major, minor] = [Number(version[1]), Number(version[2])]
  if (major < OLDEST_GDAL[0] || (major === OLDEST_GDAL[0] && minor < OLDEST_GDAL[1])) return null
  const drivers = [...ask('--formats').matchAll(/^ {2}(\S.*?) -[a-z, ]+- /gm)].map((match) => match[1] as string)
  if (!drivers.includes('GPKG')) return null
  const { prefix } = confinement(MEMORY_MB, { outputMb: OUTPUT_MB, cpuSeconds: RUN_SECONDS })
  return {
    prefix,
    drivers,
    environment: (driver) => ({
      ...BARE_ENVIRONMENT,
      ...GDAL_CONFIGURATION,
      GDAL_SKIP: drivers.filter((name) => name !== driver && name !== 'GPKG').join(','),
      OGR_SQLITE_SYNCHRONOUS: 'OFF',
      OGR_SQLITE_JOURNAL: 'OFF',
      GML_SKIP_RESOLVE_ELEMS: 'ALL',
    }),
  }
}

function ask(option: string): string {
  const { status, stdout } = spawnSync('ogrinfo', [option], { env: BARE_ENVIRONMENT, timeout: ANSWER_MS })
  return status === 0 ? stdout.toString('utf8') : ''
}
