import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { SliceOutput } from '@gateway/contracts/slice.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import type { Transaction } from '@gateway/store/connect.js'
import {
  type Accepted,
  type NewSliceJob,
  readOpenSliceJobs,
  readSliceJobByCode,
  type Submitted,
  type Submitter,
  submitSliceJob,
} from '@gateway/store/slice-jobs.js'
import { LAYERS_SOURCE } from '../catalog/sources/configured-sources.js'
import { traceToKeep } from '../platform/trace.js'
import { modeOf } from './layer-version.js'

type Refused = Refusal & { readonly state: 'refused' }

/** Queues a job, unless its layer could not accept it: the job would only fail when its turn comes. */
export async function submit(
  tx: Transaction,
  outputRoot: string,
  job: NewSliceJob,
  submitter: null,
): Promise<Accepted | Refused>
export async function submit(
  tx: Transaction,
  outputRoot: string,
  job: NewSliceJob,
  submitter: Submitter,
): Promise<Submitted | Refused>
export async function submit(
  tx: Transaction,
  outputRoot: string,
  job: NewSliceJob,
  submitter: Submitter | null,
): Promise<Submitted | Refused> {
  const isBucket = isRemote(outputRoot)
  const layer = await layerBefore(tx, job.targetCode)
  if ((await readSliceJobByCode(tx, job.code)) === null) {
    const refusal = isBucket && job.output === 'folder' ? OUTPUT_BUCKET : refusalBy(layer, job)
    if (refusal !== null) return { ...refusal, state: 'refused' }
  }
  const output = isBucket ? 'pmtiles' : (job.output ?? outputLike(layer, job))
  const traced = { ...job, output, trace: traceToKeep() }
  return submitter === null ? submitSliceJob(tx, traced, null) : submitSliceJob(tx, traced, submitter)
}

/** Returns the reason why a single image cannot be merged into the layer, in the state of the job's turn; null if it can. */
function refusalBy(layer: Layer | null, job: NewSliceJob): Refusal | null {
  if (layer === null || modeOf({ sourceCount: job.sourcePaths.length }) === 'mosaic') return null
  if (layer.tileMatrixSet !== job.tileMatrixSet) {
    return refuse(
      'conflict',
      coded('slice_target_grid', { layer: job.targetCode, has: layer.tileMatrixSet, asked: job.tileMatrixSet }),
    )
  }
  if (job.output !== null && layer.output !== job.output)
    return refuse(
      'conflict',
      coded('slice_target_output', { layer: job.targetCode, has: layer.output, asked: job.output }),
    )
  if (layer.encoding === job.encoding) return null
  return refuse(
    'conflict',
    coded('slice_target_encoding', { layer: job.targetCode, has: String(layer.encoding), asked: job.encoding }),
  )
}

const OUTPUT_BUCKET = refuse('invalid_parameters', coded('slice_output_bucket'))

/** Archives hold only tiles of the standard grid. */
function outputLike(layer: Layer | null, { tileMatrixSet }: NewSliceJob): SliceOutput {
  return layer !== null && tileMatrixSet === 'WebMercatorQuad' ? layer.output : 'folder'
}

interface Layer {
  readonly tileMatrixSet: TileMatrixSetId
  readonly encoding: unknown
  readonly output: SliceOutput
}

/** Returns the layer after the last job of the queue, or else its newest version; null without such a layer. */
async function layerBefore(tx: Transaction, code: string): Promise<Layer | null> {
  const queued = (await readOpenSliceJobs(tx, [code])).at(-1)
  if (queued !== undefined) return queued
  const basemap = await readBasemap(tx, code)
  if (basemap === null || basemap.sourceCode !== LAYERS_SOURCE) return null
  const newest = basemap.versions.findLast(({ available }) => available)
  if (newest === undefined) return null
  const output = newest.storage === 'pmtiles' ? 'pmtiles' : 'folder'
  return { tileMatrixSet: newest.tileMatrixSet, encoding: newest.metadata.encoding ?? 'rgb', output }
}
