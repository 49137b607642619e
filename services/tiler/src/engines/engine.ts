import type { EngineName } from '@gateway/contracts/tiling/protocol.js'

const TOOLS = ['gdalinfo', 'gdal_translate', 'gdalwarp', 'gdaltransform'] as const
export type Tool = (typeof TOOLS)[number]

/** The only GDAL drivers that open a source, whatever its name or content: those that every engine has. */
export const SOURCE_DRIVERS = ['GTiff', 'JPEG', 'PNG'] as const

/** The driver for JPEG 2000, if the system's GDAL has it. GDAL opens such a file only by this driver. */
export const JPEG_2000_DRIVER = 'JP2OpenJPEG'

/**
 * The identity of a file when it was checked. Only the kernel sets the inode change time, so a file with the same
 * identity has the same bytes.
 */
export interface Identity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly ctimeNs: bigint
}

/** An open file that was verified to be a plain file in an allowed place. */
export interface OpenFile {
  readonly fd: number
  readonly realPath: string
  readonly identity: Identity
}

/** Masks and overviews next to an image, by the end of the name that GDAL gives them. */
export const FILE_SUFFIXES = ['.msk', '.msk.ovr', '.ovr'] as const
export type FileSuffix = (typeof FILE_SUFFIXES)[number]

/** Small texts next to an image, by the end of the name that GDAL gives them. `.wld` replaces the end of the image's name. */
export type TextSuffix = '.aux.xml' | '.wld'
export type BesideTexts = Readonly<Partial<Record<TextSuffix, string>>>

/** An open source with what GDAL may see next to it. */
export interface OpenSource extends OpenFile {
  readonly beside: {
    readonly texts: BesideTexts
    readonly files: readonly (OpenFile & { readonly suffix: FileSuffix })[]
  }
}

export function hasAnythingBeside({ beside }: OpenSource): boolean {
  return beside.files.length > 0 || Object.keys(beside.texts).length > 0
}

/** Returns the name of the n-th image of a call, or of a file next to it, in the folder where GDAL finds them. */
export function besideName(index: number, suffix: FileSuffix | TextSuffix | ''): string {
  return suffix === '.wld' ? `${index}.wld` : `${index}.tif${suffix}`
}

/** Lets GDAL see what is next to a source. The engines show it nothing else there. */
export const BESIDE_CONFIGURATION: Readonly<Record<string, string>> = {
  GDAL_DISABLE_READDIR_ON_OPEN: 'TRUE',
  GDAL_PAM_ENABLED: 'YES',
}

export interface ToolCall {
  readonly tool: Tool
  /** arguments of the GDAL program of that name; `sourceName` and `tempName` name sources and temporary files */
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

/** GDAL's programs, in the form that this machine has. */
export interface Engine {
  readonly name: EngineName
  /** for the log */
  readonly description: string
  /** drivers that open sources */
  readonly sourceDrivers: readonly string[]
  /** number of threads of one warp */
  readonly threads: number
  /** Returns the name of the n-th source of a call in its arguments and in VRT files. */
  sourceName(source: OpenSource, index: number): string
  /** Returns the name of a file in the run's scratch folder in arguments. */
  tempName(file: string): string
  run(call: ToolCall): Promise<ToolOutcome>
  close(): void
}

/** GDAL reports single points that a projection cannot express as errors. They become pixels without a source. */
const POINT_ERROR = /^ERROR 1: (PROJ: |Point outside|Reprojection failed|.*tolerance condition)/

/** Returns GDAL's errors that make the result unusable. Its exit code is not reliable. */
export function errorsIn(outcome: ToolOutcome): string[] {
  return outcome.stderr
    .split('\n')
    .filter((line) => /^(ERROR|FAILURE|terminate called|Aborted)/.test(line) && !POINT_ERROR.test(line))
}
