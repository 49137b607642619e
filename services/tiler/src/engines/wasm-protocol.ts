import type { BesideTexts, FileSuffix, Tool } from './engine.js'

/** Mount points of a call's sources and of the scratch folder in the WebAssembly build. */
export const sourceMount = '/sources'
export const tempMount = '/scratch'

/** A file by its real path, with its expected identity; big numbers as text. */
export interface HostFile {
  readonly path: string
  readonly dev: string
  readonly ino: string
  readonly size: string
  readonly ctimeNs: string
}

/** A source with what is next to it. */
export interface HostSource extends HostFile {
  readonly texts: BesideTexts
  readonly files: readonly (HostFile & { readonly suffix: FileSuffix })[]
}

/** One line on the host's stdin. */
export interface HostRequest {
  readonly tool: Tool
  readonly args: readonly string[]
  readonly input: string
  readonly sources: readonly HostSource[]
}

/** One line on the host's stdout; `alive` is the heartbeat of a long call. */
export type HostAnswer =
  | { readonly type: 'alive' }
  | { readonly type: 'done'; readonly code: number; readonly stdout: string; readonly stderr: string }
