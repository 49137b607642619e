import { BARE_ENVIRONMENT } from '@gateway/core/processes/confinement.js'
import { KillableChild } from '@gateway/core/processes/killable-child.js'
import type { IndexTask } from '../index-file/build-index.js'
import type { IndexDescription } from '../index-file/index-description.js'
import type { Crs } from './crs.js'

export const FORMS = ['geojson', 'gpkg', 'fgb', 'zip', 'csv'] as const
/** Formats in which every vector can be downloaded. `zip`: a shapefile. */
export type Form = (typeof FORMS)[number]

export interface FormTask {
  /** the file `index.gpkg` */
  readonly index: string
  readonly description: IndexDescription
  /** name of the only layer */
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

/** `fault`: it is the vector's, and another attempt ends in the same way. `replaced`: the catalog knows another content. */
export type ConversionOutcome =
  | { readonly made: true }
  | {
      readonly made: false
      readonly why: 'fault' | 'replaced' | 'failed' | 'no_space'
      readonly message: string
    }

/** The built file, used both from the sources (in tests) and from the build. */
const MODULE = new URL('../../dist/query/conversion-process.js', import.meta.url)

/** Runs a conversion in another process, which always ends with this one. */
export function runConversion(conversion: Conversion): Promise<ConversionOutcome> {
  return new Promise((resolve) => {
    const child = new KillableChild<ConversionOutcome>(
      { module: MODULE, env: BARE_ENVIRONMENT },
      {
        message: resolve,
        ended: (how) => resolve({ made: false, why: 'failed', message: `the process that converts ended: ${how}` }),
      },
    )
    child.send(conversion)
  })
}
