import type { EngineName } from '@gateway/contracts/tiling/protocol.js'

export const TOOLS = ['gdalinfo', 'gdal_translate', 'gdalwarp', 'gdaltransform'] as const
export type Tool = (typeof TOOLS)[number]

/** The only GDAL drivers that a source is ever opened with, whatever its name or content: those that every engine has. */
export const SOURCE_DRIVERS = ['GTiff', 'JPEG', 'PNG'] as const

/** JPEG 2000, if the system's GDAL has it: GDAL opens the file by this driver and no other. */
export const JPEG_2000_DRIVER = 'JP2OpenJPEG'

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
  /** The drivers that sources are opened with. */
  readonly sourceDrivers: readonly string[]
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
