import { createWriteStream } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { PlanLine } from '@gateway/contracts/tiling/protocol.js'
import { type Warning, warningOf, withWarnings } from '@gateway/contracts/warning.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { NewSliceJob } from '@gateway/store/slice-jobs.js'
import type { ControlContext } from '../platform/context.js'
import { modeOf } from './layer-version.js'
import { runTool } from './tool.js'
import { toolRequest } from './tool-request.js'
import { codedReason, planWarnings } from './warnings.js'

export type Estimate =
  | {
      readonly ok: true
      readonly plan: Omit<PlanLine, 'type'> & { readonly free_bytes: number; readonly warnings?: Warning[] }
    }
  | Refusal

/** Time limit. Reading headers takes seconds at most, and an administrator waits for it. */
const ESTIMATE_SECONDS = 60

/** Asks the tiling tool for the size of a job's result. Writes only temporary files. */
export async function estimate({ settings, shutdown }: ControlContext, job: NewSliceJob): Promise<Estimate> {
  const { sliceWorkRoot } = settings
  if (job.sourcePaths.some(isRemote)) return refuse('invalid_parameters', coded('slice_estimate_remote'))
  await mkdir(sliceWorkRoot, { recursive: true })
  const mode = modeOf({ sourceCount: job.sourcePaths.length })
  const request = await toolRequest(settings, job, { mode, stagingDir: join(sliceWorkRoot, '.estimate') })
  const limits = { ...request.limits, timeout_seconds: ESTIMATE_SECONDS }
  const log = createWriteStream('/dev/null')
  const plans: PlanLine[] = []
  const result = await runTool(
    settings.tilerCommand,
    { ...request, limits, estimate_only: true },
    log,
    (line) => {
      if (line.type === 'plan') plans.push(line)
    },
    shutdown,
  )
  log.end()
  const [plan] = plans
  if (plan === undefined)
    return refuse(
      'invalid_parameters',
      result.ok
        ? coded('slice_no_plan')
        : (codedReason(result) ?? coded('slice_tool_failed', { words: result.reason })),
    )
  const { bavail, bsize } = await statfs(sliceWorkRoot)
  const { type: _, ...figures } = plan
  const warnings = [...(job.warnings ?? []), ...planWarnings(job, plan)].map(warningOf)
  return { ok: true, plan: withWarnings({ ...figures, free_bytes: bavail * bsize }, warnings) }
}
