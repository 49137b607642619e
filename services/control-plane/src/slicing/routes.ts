import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { sliceJobSchema } from '@gateway/contracts/slice.js'
import { isGranted } from '@gateway/core/access/decide.js'
import { compareVersions } from '@gateway/store/default-version.js'
import { readLayerSources } from '@gateway/store/layer-sources.js'
import { readSliceJob } from '@gateway/store/slice-jobs.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { isUuid } from '../platform/http/input-validation.js'
import { sendRefusal } from '../platform/http/refusal.js'
import type { ServiceGate } from '../platform/service-access/token-gate.js'
import { describeJob, describeSubmitted } from './job-object.js'
import { checkSubmission, submissionSchema } from './submission.js'
import { submit } from './submit.js'

export const NO_SUCH_JOB = refuse('not_found', coded('slice_not_found'))
/** Advice for a submission with an unknown outcome: its repetition creates no second job. */
const OTHER_LAYER = refuse('conflict', coded('slice_code_of_other_layer'))
const NO_SUCH_LAYER = refuse('not_found', coded('slice_layer_not_found'))

/** Limit: jobs of one token that are pending or running. They run one at a time: this many are hours of work, and the queue stays bounded. */
const MAX_OPEN_JOBS = 100
/** The queue has room again when a job ends, after seconds to hours. */
const TRY_AGAIN_SECONDS = 30
const QUEUE_FULL: Refusal = refuse('too_many_requests', coded('slice_jobs_full', { limit: MAX_OPEN_JOBS }))

const layerSourcesSchema = z.object({
  code: z.string(),
  version: z.string(),
  source_paths: z.array(z.string()).describe('in the order in which they were sliced'),
})

export function sliceRoutes(app: App, ctx: ControlContext, gate: ServiceGate): void {
  const { sql } = ctx
  const onRequest = gate.require('slice')
  app.post(
    '/api/v1/slice/jobs',
    {
      onRequest,
      config: { ifUnknown: 'slice_submit_again' },
      schema: {
        operationId: 'submitSliceJob',
        summary: 'Submit a slice job',
        description:
          'One image accumulates into the newest version of the layer. Several images build a new version next to the old one; it becomes the ' +
          'default when it is complete. A layer that is not among the `layer_codes` of the token returns 403. The request checks only the form; a missing or unreadable image makes the job fail. One image for ' +
          'a layer of another `tile_matrix_set`, `encoding` or `output` returns 409, since their tiles cannot be merged. A known ' +
          '`code` returns the existing job, or 409 if the token may not slice the layer of that job. The `code` of a job that is no longer kept ' +
          '(JOB_RETENTION_DAYS) queues a new one. Jobs run one at a ' +
          `time, in the order of their submission. \`warnings\` lists accepted input that is probably not intended, such as a missing \`zoom_max\`. While the ` +
          `job runs, it adds zooms above those of the images' own resolution. A token may have ${MAX_OPEN_JOBS} jobs that have not ended; a further one returns 429.`,
        body: submissionSchema,
        response: { 202: sliceJobSchema },
      },
    },
    async (request, reply) => {
      const { body, serviceToken, log } = request
      const checked = checkSubmission(body)
      if (!checked.ok) return sendRefusal(reply, checked)
      if (!gate.grants(request, reply, layer(checked.job.targetCode), 'slice')) return reply
      const submitter = { tokenId: serviceToken.id, maxOpen: MAX_OPEN_JOBS }
      const submitted = await sql.begin((tx) => submit(tx, ctx.settings.sliceOutputRoot, checked.job, submitter))
      if (submitted.state === 'refused') return sendRefusal(reply, submitted)
      if (submitted.state === 'full') {
        reply.header('Retry-After', String(TRY_AGAIN_SECONDS))
        return sendRefusal(reply, QUEUE_FULL)
      }
      if (!isGranted(serviceToken, layer(submitted.job.targetCode))) return sendRefusal(reply, OTHER_LAYER)
      if (submitted.state === 'queued') log.info({ job: submitted.job.id }, 'a slice job was submitted')
      return reply.code(202).send(await describeSubmitted(ctx, { tokenId: serviceToken.id }, submitted, checked.job))
    },
  )
  app.get(
    '/api/v1/slice/jobs/:id',
    {
      onRequest,
      schema: {
        operationId: 'getSliceJob',
        summary: 'Get a slice job',
        description:
          'The job with this `id`. It is kept for JOB_RETENTION_DAYS after its end. Returns 404 also if the `layer_codes` of the token do not include the layer ' +
          'of the job.',
        params: z.object({ id: z.string() }),
        response: { 200: sliceJobSchema },
      },
    },
    async ({ params, serviceToken }, reply) => {
      const job = isUuid(params.id) ? await readSliceJob(sql, params.id) : null
      if (job === null || !isGranted(serviceToken, layer(job.targetCode))) return sendRefusal(reply, NO_SUCH_JOB)
      return describeJob(ctx, { tokenId: serviceToken.id }, job)
    },
  )
  app.get(
    '/api/v1/slice/layers/:code/sources',
    {
      onRequest,
      schema: {
        operationId: 'listLayerSources',
        summary: 'List the images that make up the newest version of a layer',
        description:
          'Returns 403 if the `layer_codes` of the token do not include the layer, and 404 if no image was sliced into it.',
        params: z.object({ code: z.string() }),
        response: { 200: layerSourcesSchema },
      },
    },
    async (request, reply) => {
      const { params } = request
      if (!gate.grants(request, reply, layer(params.code), 'slice')) return reply
      const versions = await readLayerSources(sql, params.code)
      const newest = versions.sort((a, b) => compareVersions(a.version, b.version)).at(-1)
      return newest ?? sendRefusal(reply, NO_SUCH_LAYER)
    },
  )
}

const layer = (code: string) => ({ kind: 'layer', code }) as const
