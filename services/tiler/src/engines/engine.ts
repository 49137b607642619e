import type { EngineName } from '@gateway/tiling/protocol.js'

export const TOOLS = ['gdalinfo', 'gdal_translate', 'gdalwarp', 'gdaltransform'] as const
export type Tool = (typeof TOOLS)[number]

/** The only GDAL drivers that a source is ever opened with, whatever its name or content. */
export const SOURCE_DRIVERS = ['GTiff', 'JPEG', 'PNG'] as const

/**
 * What a file was when it was checked. Only the kernel sets the inode change time, so a file with the same
 * identity holds the same bytes.
 */
export interface Identity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly ctimeNs: bigint
}

/** A source that is open and was judged to be a plain file in its place. */
export interface OpenSource {
  readonly fd: number
  readonly realPath: string
  readonly identity: Identity
}

export interface ToolCall {
  readonly tool: Tool
  /** As of the GDAL program of that name. Sources and scratch files are named by `sourceName` and `tempName`. */
  readonly args: readonly string[]
  readonly sources?: readonly OpenSource[]
  readonly input?: string
}

export interface ToolOutcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly stopped: 'idle' | 'flood' | null
}

/** GDAL's programs, however this machine has them. */
export interface Engine {
  readonly name: EngineName
  /** For the log. */
  readonly description: string
  /** Threads that one warp uses. */
  readonly threads: number
  /** What the n-th source of a call is called in its arguments and in VRT files. */
  sourceName(index: number): string
  /** What a file of the run's scratch folder is called in arguments. */
  tempName(file: string): string
  run(call: ToolCall): Promise<ToolOutcome>
  close(): void
}

/** GDAL reports single points that a projection cannot express as errors; they are pixels without a source. */
const POINT_ERROR = /^ERROR 1: (PROJ: |Point outside|Reprojection failed|.*tolerance condition)/

/** GDAL's errors that make the result unusable; its exit code alone is not reliable. */
export function errorsIn(outcome: ToolOutcome): string[] {
  return outcome.stderr
    .split('\n')
    .filter((line) => /^(ERROR|FAILURE|terminate called|Aborted)/.test(line) && !POINT_ERROR.test(line))
}

/** Configuration of GDAL and PROJ that both engines share: no network, no sidecar files, no code in VRTs, little memory. */
export const GDAL_CONFIGURATION: Readonly<Record<string, string>> = {
  GDAL_DISABLE_READDIR_ON_OPEN: 'EMPTY_DIR',
  GDAL_PAM_ENABLED: 'NO',
  GDAL_DRIVER_PATH: 'disable',
  GDAL_CONFIG_FILE: '/nonexistent',
  GDAL_HTTP_PROXY: '127.0.0.1:9',
  GDAL_HTTP_TIMEOUT: '1',
  CPL_VSIL_CURL_ALLOWED_EXTENSIONS: '.none',
  CPL_CURL_ENABLE_VSIMEM: 'NO',
  PROJ_NETWORK: 'OFF',
  GDAL_VRT_ENABLE_PYTHON: 'NO',
  GDAL_VRT_ENABLE_RAWRASTERBAND: 'NO',
  GDAL_ERROR_ON_LIBJPEG_WARNING: 'TRUE',
  GDAL_TIFF_INTERNAL_MASK_TO_8BIT: 'YES',
  GDAL_CACHEMAX: '64',
  CPL_LOG_ERRORS: 'ON',
}
