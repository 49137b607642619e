import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { sliceJobSchema } from '@gateway/contracts/slice.js'
import { insertAudit } from '@gateway/store/audit.js'
import { cancelSliceJob, listSliceJobs, readSliceJob, submitSliceJob } from '@gateway/store/slice-jobs.js'
import { planLineSchema } from '@gateway/tiling/protocol.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { pageQuery } from '../http/page-query.js'
import { sendRefusal } from '../http/refusal.js'
import { isUuid } from '../http/uuid.js'
import { estimate } from './estimate.js'
import { oweCallback } from './finish-job.js'
import { listImageFiles } from './image-files.js'
import { toSliceJobs } from './job-object.js'
import { CANCELLED } from './job-watch.js'
import { followLog } from './log-stream.js'
import { NO_SUCH_JOB } from './routes.js'
import { checkSubmission, submissionSchema } from './submission.js'

const FINISHED = refuse('conflict', 'this slice job has ended already')
const NO_LOG = refuse('not_found', 'this slice job has no log yet')
const idParams = z.object({ id: z.string() })

export function sliceAdminRoutes(app: App, ctx: ControlContext): void {
  const { sql, settings } = ctx
  const one = async (job: Parameters<typeof toSliceJobs>[1][number]) =>
    (await toSliceJobs(ctx, [job]))[0] as z.input<typeof sliceJobSchema>
  app.get(
    '/api/v1/admin/slice/jobs',
    {
      schema: {
        summary: 'Slice jobs, newest first',
        querystring: pageQuery,
        response: { 200: listOf(sliceJobSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listSliceJobs(sql, query)
      return { items: await toSliceJobs(ctx, items), total }
    },
  )
  app.get(
    '/api/v1/admin/slice/jobs/:id',
    { schema: { summary: 'A slice job', params: idParams, response: { 200: sliceJobSchema } } },
    async ({ params }, reply) => {
      const job = isUuid(params.id) ? await readSliceJob(sql, params.id) : null
      return job === null ? sendRefusal(reply, NO_SUCH_JOB) : one(job)
    },
  )
  app.post(
    '/api/v1/admin/slice/jobs',
    {
      schema: {
        summary: 'Submit a slice job as an administrator',
        description: 'The same as POST /api/v1/slice/jobs, under admin credentials.',
        body: submissionSchema,
        response: { 202: sliceJobSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const checked = checkSubmission(body)
      if (!checked.ok) return sendRefusal(reply, checked)
      const { job, isNew } = await submitSliceJob(sql, {
        ...checked.job,
        requestedBy: checked.job.requestedBy || admin.actor,
      })
      if (isNew) {
        const detail = { target_code: job.targetCode, sources: job.sourcePaths.length }
        await sql.begin((tx) => insertAudit(tx, { ...admin, action: 'slice.submit', subject: job.id, detail }))
      }
      return reply.code(202).send(await one(job))
    },
  )
  app.post(
    '/api/v1/admin/slice/jobs/:id/cancel',
    {
      schema: {
        summary: 'Cancel a slice job',
        description:
          'A pending job ends at once, a running one within seconds; both as `failed`. The served layer stays as it is.',
        params: idParams,
        response: { 202: sliceJobSchema },
      },
    },
    async ({ params, admin }, reply) => {
      if (!isUuid(params.id)) return sendRefusal(reply, NO_SUCH_JOB)
      const cancelled = await sql.begin(async (tx) => {
        const outcome = await cancelSliceJob(tx, params.id, CANCELLED)
        if (typeof outcome === 'string') return outcome
        await insertAudit(tx, { ...admin, action: 'slice.cancel', subject: params.id })
        if (outcome.ended) await oweCallback(ctx, tx, outcome.job)
        return outcome
      })
      if (cancelled === 'unknown') return sendRefusal(reply, NO_SUCH_JOB)
      if (cancelled === 'finished') return sendRefusal(reply, FINISHED)
      return reply.code(202).send(await one(cancelled.job))
    },
  )
  app.get(
    '/api/v1/admin/slice/jobs/:id/log',
    {
      exposeHeadRoute: false,
      config: { mayTakeLong: true },
      schema: {
        summary: 'The full log of a slice job',
        description: 'With `follow=1` the answer goes on with what the job writes, until the job has ended.',
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
        summary: 'What a slice job would come to, without running it',
        description: 'At most so many tiles and bytes; 400 with the reason where the images cannot be sliced.',
        body: submissionSchema,
        response: { 200: planLineSchema.omit({ type: true }).extend({ free_bytes: z.number() }) },
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
        summary: 'Folders and images that can be sliced',
        description: 'Below SLICE_SOURCE_ROOTS; without such a setting, anywhere. Without `dir`: the roots themselves.',
        querystring: z.object({ dir: z.string().max(4096).optional() }),
        response: {
          200: listOf(
            z.object({ name: z.string(), path: z.string(), kind: z.enum(['file', 'directory']), size: z.int() }),
          ),
        },
      },
    },
    async ({ query }, reply) => {
      const outcome = await listImageFiles(settings.sliceSourceRoots, query.dir)
      return outcome.ok ? { items: outcome.items, total: outcome.items.length } : sendRefusal(reply, outcome)
    },
  )
}
