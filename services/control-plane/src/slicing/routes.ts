import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { sliceJobSchema } from '@gateway/contracts/slice.js'
import { compareVersions } from '@gateway/store/default-version.js'
import { readLayerSources } from '@gateway/store/layer-sources.js'
import { readSliceJob } from '@gateway/store/slice-jobs.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { isUuid } from '../platform/http/uuid.js'
import type { ServiceGate } from '../platform/service-access/token-gate.js'
import { describeJob } from './job-object.js'
import { checkSubmission, submissionSchema } from './submission.js'
import { submit } from './submit.js'

export const NO_SUCH_JOB = refuse('not_found', 'no such slice job')
/** What repeats a submission without a second job. */
export const SUBMIT_AGAIN = 'with the same `code` it may be submitted again, and queues no second job'
const NO_SUCH_LAYER = refuse('not_found', 'no image was sliced into such a layer')

/** Limit: jobs of one token that are pending or running. They run one at a time: this many are hours of work, and no end of the queue. */
const MAX_OPEN_JOBS = 100
/** Room comes with the end of a job, which takes seconds to hours. */
const TRY_AGAIN_SECONDS = 30
const QUEUE_FULL: Refusal = refuse(
  'too_many_requests',
  `this token has ${MAX_OPEN_JOBS} slice jobs that have not ended; submit again when some of them have`,
)

const layerSourcesSchema = z.object({
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
      config: { ifUnknown: SUBMIT_AGAIN },
      schema: {
        operationId: 'submitSliceJob',
        summary: 'Submit a slice job',
        description:
          'One image accumulates into the newest version of the layer; several build a new version beside the old one, which becomes the ' +
          'default when it is complete. Only the form is checked here; an image that is missing or unreadable makes the job fail. One image for ' +
          'a layer of another `tile_matrix_set` or `encoding` is refused (409): their tiles cannot be merged. A known ' +
          '`code` answers the existing job; that of a job that is no longer kept (JOB_RETENTION_DAYS) queues a new one. Jobs run one at a ' +
          `time, in the order of their submission. A token may have ${MAX_OPEN_JOBS} jobs that have not ended: 429 beyond.`,
        body: submissionSchema,
        response: { 202: sliceJobSchema },
      },
    },
    async ({ body, serviceToken, log }, reply) => {
      const checked = checkSubmission(body)
      if (!checked.ok) return sendRefusal(reply, checked)
      const submitter = { tokenId: serviceToken.id, maxOpen: MAX_OPEN_JOBS }
      const submitted = await sql.begin((tx) => submit(tx, checked.job, submitter))
      if (submitted.state === 'refused') return sendRefusal(reply, submitted)
      if (submitted.state === 'full') {
        reply.header('Retry-After', String(TRY_AGAIN_SECONDS))
        return sendRefusal(reply, QUEUE_FULL)
      }
      if (submitted.state === 'queued') log.info({ job: submitted.job.id }, 'a slice job was submitted')
      return reply.code(202).send(await describeJob(ctx, submitted.job))
    },
  )
  app.get(
    '/api/v1/slice/jobs/:id',
    {
      onRequest,
      schema: {
        operationId: 'getSliceJob',
        summary: 'A slice job',
        description: 'By its `id`, also after its end, for JOB_RETENTION_DAYS.',
        params: z.object({ id: z.string() }),
        response: { 200: sliceJobSchema },
      },
    },
    async ({ params }, reply) => {
      const job = isUuid(params.id) ? await readSliceJob(sql, params.id) : null
      return job === null ? sendRefusal(reply, NO_SUCH_JOB) : describeJob(ctx, job)
    },
  )
  app.get(
    '/api/v1/slice/layers/:code/sources',
    {
      onRequest,
      schema: {
        operationId: 'listLayerSources',
        summary: 'The images that make up the newest version of a layer',
        description: '404 where no image was sliced into such a layer.',
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
