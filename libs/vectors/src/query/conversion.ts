import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { BARE_ENVIRONMENT } from '@gateway/core/processes/confinement.js'
import { dieWithParent } from '@gateway/core/processes/die-with-parent.js'
import type { IndexTask } from '../index-file/build-index.js'
import type { IndexDescription } from '../index-file/index-description.js'
import type { Crs } from './crs.js'

export const FORMS = ['geojson', 'gpkg', 'fgb', 'zip', 'csv'] as const
/** As what every vector can be downloaded. `zip`: a shapefile. */
export type Form = (typeof FORMS)[number]

export interface FormTask {
  /** the file `index.gpkg` */
  readonly index: string
  readonly description: IndexDescription
  /** what the only layer is called */
  readonly code: string
  readonly form: Form
  readonly crs: Crs
  /** the file that is written */
  readonly output: string
  readonly memoryMb: number
}

export type Conversion =
  | { readonly what: 'index'; readonly task: IndexTask }
  | { readonly what: 'form'; readonly task: FormTask }

/** `fault`: it is the vector's, and another attempt ends in the same way. `no_gdal`: this machine has no ogr2ogr. */
export type ConversionOutcome =
  | { readonly made: true }
  | { readonly made: false; readonly why: 'fault' | 'failed' | 'no_space' | 'no_gdal'; readonly message: string }

/** The built file, from the sources (in tests) as from the build. */
const PROCESS = fileURLToPath(new URL('../../dist/query/conversion-process.js', import.meta.url))

/** Makes it in another process, which ends with this one, whatever ends it. */
export function runConversion(conversion: Conversion): Promise<ConversionOutcome> {
  return new Promise((resolve) => {
    const [command = '', ...args] = [...dieWithParent('KILL'), process.execPath, PROCESS]
    const child = spawn(command, args, { env: BARE_ENVIRONMENT, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const failed = (message: string) => resolve({ made: false, why: 'failed', message })
    child.once('message', (outcome: ConversionOutcome) => resolve(outcome))
    child.once('error', (error) => failed(error.message))
    child.once('exit', (code, signal) => failed(`the process that converts ended: ${signal ?? code}`))
    child.send(conversion, () => {})
  })
}
