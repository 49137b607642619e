import { createWriteStream } from 'node:fs'
import { mkdir, realpath, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { NewSliceJob } from '@gateway/store/slice-jobs.js'
import { DEFAULT_LIMITS, type PlanLine } from '@gateway/tiling/protocol.js'
import type { ControlContext } from '../context.js'
import { toolFormat } from './run-job.js'
import { runTool } from './tool.js'

export type Estimate =
  | { readonly ok: true; readonly plan: Omit<PlanLine, 'type'> & { readonly free_bytes: number } }
  | Refusal

/** A look at headers takes seconds at most; an administrator waits for it. */
const ESTIMATE_SECONDS = 60

/** Asks the tiling tool what a job would come to. Nothing is written but scratch files. */
export async function estimate(ctx: ControlContext, job: NewSliceJob): Promise<Estimate> {
  const { sliceOutputRoot, sliceSourceRoots, dataDir, tilerCommand } = ctx.settings
  await mkdir(sliceOutputRoot, { recursive: true })
  let plan: PlanLine | null = null
  const nowhere = createWriteStream('/dev/null')
  const tool = runTool(
    tilerCommand,
    {
      mode: job.sourcePaths.length === 1 ? 'accumulate' : 'mosaic',
      source_paths: [...job.sourcePaths],
      ...(sliceSourceRoots.length > 0 && {
        source_roots: await Promise.all(sliceSourceRoots.map((root) => realpath(root))),
      }),
      staging_dir: join(sliceOutputRoot, '.estimate'),
      temp_dir: join(dataDir, 'slice-temp'),
      zoom_min: job.zoomMin,
      zoom_max: job.zoomMax,
      tile_size: job.tileSize === 512 ? 512 : 256,
      tile_format: toolFormat(job.tileFormat),
      engine: 'auto',
      limits: { ...DEFAULT_LIMITS, timeout_seconds: ESTIMATE_SECONDS },
      estimate_only: true,
    },
    nowhere,
    (line) => {
      if (line.type === 'plan') plan = line
    },
  )
  const result = await tool.result
  nowhere.end()
  const told = plan as PlanLine | null
  if (told === null) return refuse('invalid_parameters', result.ok ? 'the tiling tool made no plan' : result.reason)
  const { bavail, bsize } = await statfs(sliceOutputRoot)
  const { type: _, ...figures } = told
  return { ok: true, plan: { ...figures, free_bytes: bavail * bsize } }
}
