import { type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import { BARE_ENVIRONMENT } from '@gateway/core/processes/confinement.js'
import { KillableChild } from '@gateway/core/processes/killable-child.js'
import { killTree, type LimitMet, type WorkLimits, watchWork } from '@gateway/core/processes/work-limits.js'
import type { BuildTask } from '../build.js'
import type { IndexTask } from '../index-file/build-index.js'
import type { IndexDescription } from '../index-file/index-description.js'
import type { TableSource } from '../postgis/open-table.js'
import type { BuiltTiles } from '../tiles/build-tiles.js'
import type { Crs } from './crs.js'

export const FORMS = ['geojson', 'gpkg', 'fgb', 'zip', 'csv'] as const
/** Formats in which every vector can be downloaded. `zip`: a shapefile. */
export type Form = (typeof FORMS)[number]

export interface FormTask {
  /** the file `index.gpkg`; empty for a table of a database */
  readonly index: string
  /** absent: the features are those of the index */
  readonly database?: TableSource | undefined
  readonly description: IndexDescription
  /** name of the only layer */
  readonly code: string
  readonly form: Form
  readonly crs: Crs
  /** see `ItemsQuery` */
  readonly isGuarded?: boolean
  /** the file that is written */
  readonly output: string
  readonly memoryMb: number
}

/** `build`: an index with its tiles. */
export type Conversion =
  | { readonly what: 'build'; readonly task: BuildTask }
  | { readonly what: 'index'; readonly task: IndexTask }
  | { readonly what: 'form'; readonly task: FormTask }

/**
 * `fault`: it is the vector's, and another attempt ends in the same way. `replaced`: the catalog knows another content. `ended`: the process ended
 * without a result. `stopped`: nobody wants the result.
 */
export type ConversionOutcome =
  | { readonly made: true; readonly tiles: BuiltTiles | null }
  | {
      readonly made: false
      readonly why: 'fault' | 'replaced' | 'failed' | 'no_space' | 'ended' | 'stopped'
      readonly message: string
      readonly said: CodedMessage
    }

type NotMade = Extract<ConversionOutcome, { made: false }>

/** The built file, used both from the sources (in tests) and from the build. */
const MODULE = new URL('../../dist/query/conversion-process.js', import.meta.url)

const MEGABYTE = 2 ** 20

/**
 * Limits of a conversion: a part that each has, and one for each megabyte of the source. An honest file takes about a hundredth of the time, and a
 * tenth of the output. A zipped source may unpack to twenty times its size.
 */
const PROCESSOR_SECONDS = { each: 30, perMegabyte: 8 }
const SECONDS = { each: 600, perMegabyte: 32 }
const OUTPUT_MEGABYTES = { each: 256, perMegabyte: 32 }

/** Limits for every size of the source. */
const MAX_SECONDS = 24 * 3600
const MAX_OUTPUT_BYTES = 64 * 2 ** 30

/** An operator who sets the deepest zoom may ask for many tiles of a small file. */
const CHOSEN_ZOOM = { processorSeconds: 600, seconds: 1800, outputMegabytes: 4096 }

/** Memory of the process in addition to that of the task: Node itself, and the garbage that it has not collected yet. */
const OWN_MEMORY_BYTES = 512 * MEGABYTE

export interface Converting {
  /** bytes of the source, or of the index that a download is made from */
  readonly sourceBytes: number
  /** everything is written below this folder */
  readonly folder: string
  /** maximum number of bytes in it, if less than a source of this size may write */
  readonly maxBytes?: number
  /** ends the conversion */
  readonly signal: AbortSignal
}

/** Returns the limits of a conversion. */
export function limitsOf(conversion: Conversion, { sourceBytes, folder, maxBytes }: Converting): WorkLimits {
  const megabytes = sourceBytes / MEGABYTE
  const isChosen = conversion.what === 'build' && conversion.task.maxZoom !== null
  const grown = (by: typeof SECONDS, chosen: number) => (isChosen ? chosen : by.each) + by.perMegabyte * megabytes
  const memoryMb = conversion.what === 'form' ? conversion.task.memoryMb : conversion.task.limits.memoryMb
  return {
    seconds: Math.min(MAX_SECONDS, Math.ceil(grown(SECONDS, CHOSEN_ZOOM.seconds))),
    processorSeconds: Math.min(MAX_SECONDS, Math.ceil(grown(PROCESSOR_SECONDS, CHOSEN_ZOOM.processorSeconds))),
    memoryBytes: memoryMb * MEGABYTE + OWN_MEMORY_BYTES,
    outputBytes: Math.min(
      maxBytes ?? MAX_OUTPUT_BYTES,
      MAX_OUTPUT_BYTES,
      Math.ceil(grown(OUTPUT_MEGABYTES, CHOSEN_ZOOM.outputMegabytes)) * MEGABYTE,
    ),
    folder,
  }
}

const MESSAGE_OF_LIMIT = {
  time: 'vector_limit_time',
  processor: 'vector_limit_processor',
  memory: 'vector_limit_memory',
  output: 'vector_limit_output',
  disk: 'vector_limit_disk',
} as const

/** Returns the message about a limit; it names the limit and its value. */
export function messageOfLimit({ limit, value }: LimitMet): CodedMessage {
  const params =
    limit === 'time' || limit === 'processor' ? { seconds: value } : { megabytes: Math.round(value / MEGABYTE) }
  return coded(MESSAGE_OF_LIMIT[limit], params)
}

function notMade(why: NotMade['why'], said: CodedMessage): NotMade {
  return { made: false, why, message: textOf(said), said }
}

/** Time in ms after which a killed process is not waited for: it is blocked in the kernel. */
const END_MS = 5_000

/**
 * Runs a conversion within its limits in another process, which always ends with this one. When this resolves, that process and all that it has started
 * have ended, so that nothing is written any more.
 */
export function runConversion(conversion: Conversion, converting: Converting): Promise<ConversionOutcome> {
  const { signal } = converting
  return new Promise((resolve) => {
    let outcome: ConversionOutcome | null = null
    let unwatch = () => {}
    const finish = (how: string) => {
      unwatch()
      signal.removeEventListener('abort', abort)
      resolve(outcome ?? notMade('ended', coded('vector_conversion_process_ended', { words: how })))
    }
    const end = (why: ConversionOutcome) => {
      outcome ??= why
      killTree(child.pid)
      child.kill()
      setTimeout(finish, END_MS, 'it does not end').unref()
    }
    const abort = () => end(notMade('stopped', coded('vector_conversion_unwanted')))
    const child = new KillableChild<ConversionOutcome>(
      { module: MODULE, env: BARE_ENVIRONMENT },
      {
        message: (message) => {
          outcome ??= message
        },
        ended: finish,
      },
    )
    unwatch = watchWork(child.pid, limitsOf(conversion, converting), (met) => {
      end(notMade(met.limit === 'disk' ? 'no_space' : 'fault', messageOfLimit(met)))
    })
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    else child.send(conversion)
  })
}
