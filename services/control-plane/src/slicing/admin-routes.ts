import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { listedSliceJobSchema, SLICE_STATUSES, sliceJobSchema } from '@gateway/contracts/slice.js'
import { planLineSchema } from '@gateway/contracts/tiling/protocol.js'
import { warningsField } from '@gateway/contracts/warning.js'
import { insertAudit } from '@gateway/store/audit.js'
import { type MemoryListing, pageOf } from '@gateway/store/catalog/list-in-memory.js'
import { flag, listQuery, text } from '@gateway/store/catalog/list-query.js'
import { findSliceJobIds, listSliceJobs, readSliceJob, SLICE_JOB_LISTING } from '@gateway/store/slice-jobs.js'
import { z } from 'zod'
import { bulkRoute } from '../platform/bulk/bulk-route.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { isUuid } from '../platform/http/input-validation.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { callbackRecordRoutes } from './callback.js'
import { acknowledgeJob, cancelJob } from './change-job.js'
import { estimate } from './estimate.js'
import { type ImageFile, listImageFiles } from './image-files.js'
import { describeJob, describeJobs, describeSubmitted } from './job-object.js'
import { followLog } from './log-stream.js'
import { NO_SUCH_JOB } from './routes.js'
import { checkSubmission, submissionSchema } from './submission.js'
import { submit } from './submit.js'

const NO_LOG = refuse('not_found', coded('slice_log_not_found'))
/** Folders come first. */
const FILES = {
  searched: { name: ({ name }) => name },
  sortable: { kind: ({ kind }) => kind, name: ({ name }) => name.toLowerCase(), size: ({ size }) => size },
  order: 'kind',
  filters: { kind: ({ kind }) => kind },
} satisfies MemoryListing<ImageFile>
const JOBS_QUERY = listQuery(SLICE_JOB_LISTING, {
  status: z.enum(SLICE_STATUSES),
  cancelled: flag,
  acknowledged: flag.describe('true: somebody has acknowledged its failure'),
  target_code: text,
  requested_by: text,
})
const idParams = z.object({ id: z.string() })

export function sliceAdminRoutes(app: App, ctx: ControlContext): void {
  const { sql, settings } = ctx
  callbackRecordRoutes(app, ctx)
  bulkRoute(app, ctx, {
    path: 'slice/jobs',
    operationId: 'changeSliceJobs',
    noun: 'slice jobs',
    actions: {
      cancel: 'ends pending jobs at once and running ones within seconds',
      acknowledge: 'acknowledges a failure',
    },
    query: JOBS_QUERY,
    find: (filter, most) => findSliceJobIds(sql, filter, most),
    change: ({ action, admin }) => {
      const change = action === 'cancel' ? cancelJob : acknowledgeJob
      return (tx, id) => change(ctx, tx, id, admin)
    },
  })
  app.get(
    '/api/v1/admin/slice/jobs',
    {
      schema: {
        operationId: 'listSliceJobs',
        summary: 'List slice jobs, newest first',
        description:
          'The items have no image paths; the detail of a job has them. Jobs are kept for JOB_RETENTION_DAYS after their end.',
        querystring: JOBS_QUERY,
        response: { 200: listOf(listedSliceJobSchema) },
      },
    },
    async ({ query, operator }) => {
      const { items, total } = await listSliceJobs(sql, query)
      return { items: await describeJobs(ctx, operator, items), total }
    },
  )
  app.get(
    '/api/v1/admin/slice/jobs/:id',
    {
      schema: {
        operationId: 'getAdminSliceJob',
        summary: 'Get a slice job',
        description: 'The job with this `id`. It is kept for JOB_RETENTION_DAYS after its end.',
        params: idParams,
        response: { 200: sliceJobSchema },
      },
    },
    async ({ params, operator }, reply) => {
      const job = isUuid(params.id) ? await readSliceJob(sql, params.id) : null
      return job === null ? sendRefusal(reply, NO_SUCH_JOB) : describeJob(ctx, operator, job)
    },
  )
  app.post(
    '/api/v1/admin/slice/jobs',
    {
      config: { ifUnknown: 'slice_submit_again' },
      schema: {
        operationId: 'submitAdminSliceJob',
        summary: 'Submit a slice job as an administrator',
        description:
          'The same as POST /api/v1/slice/jobs, under admin credentials and without a limit on jobs that have not ended.',
        body: submissionSchema,
        response: { 202: sliceJobSchema },
      },
    },
    async ({ body, admin, operator, log }, reply) => {
      const checked = checkSubmission(body)
      if (!checked.ok) return sendRefusal(reply, checked)
      const wanted = { ...checked.job, requestedBy: checked.job.requestedBy || admin.actor }
      const submitted = await sql.begin(async (tx) => {
        const submitted = await submit(tx, ctx.settings.sliceOutputRoot, wanted, null)
        if (submitted.state !== 'queued') return submitted
        const { job } = submitted
        const detail = { name: job.name, code: job.code, target_code: job.targetCode, sources: job.sourcePaths.length }
        await insertAudit(tx, { ...admin, action: 'slice.submit', subject: job.id, detail })
        return submitted
      })
      if (submitted.state === 'refused') return sendRefusal(reply, submitted)
      if (submitted.state === 'queued') log.info({ job: submitted.job.id }, 'a slice job was submitted')
      return reply.code(202).send(await describeSubmitted(ctx, operator, submitted, wanted))
    },
  )
  app.post(
    '/api/v1/admin/slice/jobs/:id/cancel',
    {
      schema: {
        operationId: 'cancelSliceJob',
        summary: 'Cancel a slice job',
        description:
          'A pending job ends at once, and a running one within seconds. Both become `failed`, with `cancelled` and a message that names the ' +
          'administrator and the time. The served layer does not change.',
        params: idParams,
        response: { 202: sliceJobSchema },
      },
    },
    async ({ params, admin, operator }, reply) => {
      const outcome = await sql.begin((tx) => cancelJob(ctx, tx, params.id, admin))
      if (!outcome.ok) return sendRefusal(reply, outcome)
      return reply.code(202).send(await describeJob(ctx, operator, outcome.job))
    },
  )
  app.post(
    '/api/v1/admin/slice/jobs/:id/acknowledge',
    {
      schema: {
        operationId: 'acknowledgeSliceJob',
        summary: 'Acknowledge the failure of a slice job',
        description: 'The job does not change, but needs no further attention. Returns 409 if it has not failed.',
        params: idParams,
        response: { 200: sliceJobSchema },
      },
    },
    async ({ params: { id }, admin, operator }, reply) => {
      const outcome = await sql.begin((tx) => acknowledgeJob(ctx, tx, id, admin))
      return outcome.ok ? describeJob(ctx, operator, outcome.job) : sendRefusal(reply, outcome)
    },
  )
  app.get(
    '/api/v1/admin/slice/jobs/:id/log',
    {
      exposeHeadRoute: false,
      config: { mayTakeLong: true },
      schema: {
        operationId: 'getSliceJobLog',
        summary: 'Get the full log of a slice job',
        description: 'With `follow=1` the response continues with new lines until the job has ended.',
        params: idParams,
        querystring: z.object({ follow: z.enum(['0', '1']).default('0') }),
        response: { 200: { description: 'the log', content: { 'text/plain': { schema: z.unknown() } } } },
      },
    },
    async ({ params, query }, reply) => {
      const job = isUuid(params.id) ? await readSliceJob(sql, params.id) : null
      if (job === null) return sendRefusal(reply, NO_SUCH_JOB)
      if (job.logPath === '') return sendRefusal(reply, NO_LOG)
      reply.header('Content-Type', 'text/plain; charset=utf-8').header('X-Content-Type-Options', 'nosniff')
      return reply.send(followLog(ctx, job, query.follow === '1'))
    },
  )
  app.post(
    '/api/v1/admin/slice/estimate',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'estimateSliceJob',
        summary: 'Estimate a slice job without running it',
        description: 'Returns upper bounds of tiles and bytes, or 400 with the reason if the images cannot be sliced.',
        body: submissionSchema,
        response: { 200: planLineSchema.omit({ type: true }).extend({ free_bytes: z.number(), ...warningsField }) },
      },
    },
    async ({ body }, reply) => {
      const checked = checkSubmission(body)
      if (!checked.ok) return sendRefusal(reply, checked)
      const outcome = await estimate(ctx, checked.job)
      return outcome.ok ? outcome.plan : sendRefusal(reply, outcome)
    },
  )
  app.get(
    '/api/v1/admin/slice/files',
    {
      schema: {
        operationId: 'listSliceFiles',
        summary: 'List folders and images that can be sliced',
        description:
          'Lists the content of `dir`, which must lie below SLICE_SOURCE_ROOTS; without that setting it may lie anywhere. Without `dir` it lists ' +
          'the roots.',
        querystring: listQuery(FILES, { kind: z.enum(['file', 'directory']) }).extend({ dir: text.optional() }),
        response: {
          200: listOf(
            z.object({ name: z.string(), path: z.string(), kind: z.enum(['file', 'directory']), size: z.int() }),
          ),
        },
      },
    },
    async ({ query }, reply) => {
      const outcome = await listImageFiles(settings.sliceSourceRoots, query.dir)
      return outcome.ok ? pageOf(outcome.items, FILES, query) : sendRefusal(reply, outcome)
    },
  )
}
