import { refuse } from '@gateway/contracts/errors.js'
import { sliceJobSchema } from '@gateway/contracts/slice.js'
import { compareVersions } from '@gateway/store/default-version.js'
import { readLayerSources } from '@gateway/store/layer-sources.js'
import { readSliceJob, submitSliceJob } from '@gateway/store/slice-jobs.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { isUuid } from '../http/uuid.js'
import type { ServiceGate } from '../service-access/token-gate.js'
import { toSliceJobs } from './job-object.js'
import { checkSubmission, submissionSchema } from './submission.js'

export const NO_SUCH_JOB = refuse('not_found', 'no such slice job')
const NO_SUCH_LAYER = refuse('not_found', 'no image was sliced into such a layer')

export const layerSourcesSchema = z.object({
  code: z.string(),
  version: z.string(),
  source_paths: z.array(z.string()).describe('in the order in which they were laid'),
})

export function sliceRoutes(app: App, ctx: ControlContext, gate: ServiceGate): void {
  const { sql } = ctx
  const onRequest = gate.require('slice')
  app.post(
    '/api/v1/slice/jobs',
    {
      onRequest,
      schema: {
        summary: 'Submit a slice job',
        description:
          'One image accumulates into the newest version of the layer; several build a new version beside the old one, which becomes the ' +
          'default when it is complete. Only the form is checked here; an image that is missing or unreadable makes the job fail. A known ' +
          '`code` answers the existing job. Jobs run one at a time, in the order of their submission. Fields beyond these are ignored, as ' +
          'callers may send their own.',
        body: submissionSchema,
        response: { 202: sliceJobSchema },
      },
    },
    async ({ body }, reply) => {
      const checked = checkSubmission(body)
      if (!checked.ok) return sendRefusal(reply, checked)
      const { job } = await submitSliceJob(sql, checked.job)
      const [object] = await toSliceJobs(ctx, [job])
      return reply.code(202).send(object as NonNullable<typeof object>)
    },
  )
  app.get(
    '/api/v1/slice/jobs/:id',
    {
      onRequest,
      schema: {
        summary: 'A slice job',
        params: z.object({ id: z.string() }),
        response: { 200: sliceJobSchema },
      },
    },
    async ({ params }, reply) => {
      const job = isUuid(params.id) ? await readSliceJob(sql, params.id) : null
      if (job === null) return sendRefusal(reply, NO_SUCH_JOB)
      const [object] = await toSliceJobs(ctx, [job])
      return object as NonNullable<typeof object>
    },
  )
  app.get(
    '/api/v1/slice/layers/:code/sources',
    {
      onRequest,
      schema: {
        summary: 'The images that make up the newest version of a layer',
        params: z.object({ code: z.string() }),
        response: { 200: layerSourcesSchema },
      },
    },
    async ({ params }, reply) => {
      const versions = await readLayerSources(sql, params.code)
      const newest = versions.sort((a, b) => compareVersions(a.version, b.version)).at(-1)
      return newest ?? sendRefusal(reply, NO_SUCH_LAYER)
    },
  )
}
