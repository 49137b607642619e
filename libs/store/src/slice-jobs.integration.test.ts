import { coded } from '@gateway/contracts/messages.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { insertAudit, listAudit } from './audit.js'
import { pruneAudit } from './audit-chain.js'
import { insertCallback, readCallbackStates } from './deliveries.js'
import { renewLease } from './jobs.js'
import { appendLayerSources, readLayerSources } from './layer-sources.js'
import { knownSliceJobs, pruneSliceJobs } from './slice-job-retention.js'
import {
  cancelSliceJob,
  claimSliceJob,
  finishSliceJob,
  listSliceJobs,
  type NewSliceJob,
  readSliceJob,
  type StoredSliceJob,
  type Submitted,
  type Submitter,
  submitSliceJob,
} from './slice-jobs.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'

let store: FreshStore
beforeEach(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
afterEach(() => store.drop())

const JOB: NewSliceJob = {
  code: null,
  name: 'City',
  sourcePaths: ['/images/a.tif', '/images/b.tif'],
  targetCode: 'city',
  zoomMin: 0,
  zoomMax: 0,
  zoomMaxNative: false,
  tileSize: 256,
  tileFormat: 'webp',
  tileMatrixSet: 'WebMercatorQuad',
  encoding: 'rgb',
  resampling: 'auto',
  output: null,
  callbackUrl: '',
  requestedBy: '',
}
const TOKEN = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'

const submit = (job: NewSliceJob, submitter: Submitter | null) =>
  store.sql.begin((tx) => submitSliceJob(tx, job, submitter as Submitter)) as Promise<Submitted>

async function queue(changes: Partial<NewSliceJob> = {}): Promise<StoredSliceJob> {
  const submitted = await submit({ ...JOB, ...changes }, null)
  if (submitted.state === 'full') throw new Error('full')
  return submitted.job
}

async function ended(daysAgo: number): Promise<StoredSliceJob> {
  const job = await queue()
  await store.sql`
    UPDATE slice_jobs SET status = 'succeeded', finished_at = now() - make_interval(days => ${daysAgo}) WHERE id = ${job.id}`
  return job
}

test('simultaneous submissions of one token are queued up to its limit, and those of others are not affected', async () => {
  const mine = { tokenId: TOKEN, maxOpen: 10 }
  const outcomes = await Promise.all(Array.from({ length: 40 }, () => submit(JOB, mine)))
  expect(outcomes.filter(({ state }) => state === 'queued')).toHaveLength(10)
  expect(outcomes.filter(({ state }) => state === 'full')).toHaveLength(30)
  expect(await submit(JOB, { ...mine, tokenId: OTHER })).toMatchObject({ state: 'queued' })
  expect(await submit(JOB, null)).toMatchObject({ state: 'queued' })
  await store.sql`UPDATE slice_jobs SET status = 'failed', finished_at = now() WHERE submission = 1`
  expect(await submit(JOB, mine)).toMatchObject({ state: 'queued' })
  expect(await submit(JOB, mine)).toMatchObject({ state: 'full' })
})

test('a known code returns its job even without room for the token, and simultaneous callers get one job', async () => {
  const mine = { tokenId: TOKEN, maxOpen: 1 }
  const same = await Promise.all(Array.from({ length: 20 }, () => submit({ ...JOB, code: 'key' }, mine)))
  const answered = same.filter((outcome) => outcome.state !== 'full')
  expect(new Set(answered.map(({ job }) => job.id)).size).toBe(1)
  expect(await submit({ ...JOB, code: 'key' }, mine)).toMatchObject({ state: 'known' })
  expect(await submit({ ...JOB, code: 'other' }, mine)).toEqual({ state: 'full' })
})

test('a list contains how many images a job has, but not the images', async () => {
  const { id } = await queue()
  const { items } = await listSliceJobs(store.sql, { limit: 10, offset: 0 })
  expect(items[0]).toMatchObject({ id, sourceCount: 2 })
  expect(items[0]).not.toHaveProperty('sourcePaths')
  expect(await readSliceJob(store.sql, id)).toMatchObject({ sourceCount: 2, sourcePaths: JOB.sourcePaths })
})

test('a cancelled running job ends with the message of the first cancellation', async () => {
  await queue()
  const { job, lease } = (await claimSliceJob(store.sql, OTHER, 60)) ?? expect.fail('there is a job')
  for (const who of ['ann', 'bob'])
    await store.sql.begin((tx) => cancelSliceJob(tx, job.id, coded('slice_cancelled_by', { actor: who, at: 'noon' })))
  expect(await renewLease(store.sql, lease, 60, { progress: 1, phase: '' })).toBe('cancel')
  await store.sql.begin((tx) => finishSliceJob(tx, lease, 'cancelled'))
  expect(await readSliceJob(store.sql, job.id)).toMatchObject({
    status: 'failed',
    cancelled: true,
    message: 'cancelled by ann at noon',
    messageCoded: coded('slice_cancelled_by', { actor: 'ann', at: 'noon' }),
  })
})

test('the images of a layer are listed in stacking order', async () => {
  const layer = { code: 'order', version: 'v1' }
  const { id } = await queue()
  const laid = async (...paths: string[]) => {
    await store.sql.begin((tx) => appendLayerSources(tx, layer, id, paths))
    return (await readLayerSources(store.sql, 'order'))[0]?.source_paths
  }
  expect(await laid('/a', '/b', '/a')).toEqual(['/b', '/a'])
  expect(await laid('/c')).toEqual(['/b', '/a', '/c'])
  expect(await laid('/b')).toEqual(['/a', '/c', '/b'])
})

test('jobs that ended before the retention are deleted with their callbacks; their images in a layer stay listed', async () => {
  const [old, young, waiting] = [await ended(91), await ended(89), await queue()]
  await store.sql.begin(async (tx) => {
    await appendLayerSources(tx, { code: 'city', version: 'v1' }, old.id, old.sourcePaths)
    await insertCallback(tx, { jobId: old.id, url: 'http://10.0.0.1/', destination: 'http://10.0.0.1', job: {} })
  })
  const sources = await readLayerSources(store.sql, 'city')
  // The callback is still in progress.
  expect(await pruneSliceJobs(store.sql, 90)).toBe(0)
  await store.sql`UPDATE deliveries SET status = 'failed', due_at = NULL`
  expect(await pruneSliceJobs(store.sql, 90)).toBe(1)
  const ids = [old, young, waiting].map(({ id }) => id)
  expect(await knownSliceJobs(store.sql, ids)).toEqual(new Set([young.id, waiting.id]))
  expect(await readCallbackStates(store.sql, ids)).toEqual(new Map())
  expect(await readLayerSources(store.sql, 'city')).toEqual(sources)
  expect((await queue({ code: 'key' })).id).not.toBe(old.id)
})

test('beyond a number of jobs the oldest are deleted early, and unfinished ones stay', async () => {
  const first = await queue()
  const jobs = [await ended(4), await ended(3), await ended(2), await ended(1)]
  expect(await pruneSliceJobs(store.sql, 90, 2)).toBe(2)
  const left = await knownSliceJobs(
    store.sql,
    [first, ...jobs].map(({ id }) => id),
  )
  expect(left).toEqual(new Set([first, ...jobs.slice(2)].map(({ id }) => id)))
})

test('audit entries beyond their retention are deleted', async () => {
  const entry = { actor: 'ann', address: '127.0.0.1', action: 'a', subject: 's' }
  for (let i = 0; i < 3; i++) await store.sql.begin((tx) => insertAudit(tx, entry))
  await store.sql`UPDATE audit SET at = now() - make_interval(days => 401) WHERE id <= 2`
  await pruneAudit(store.sql, 400)
  expect((await listAudit(store.sql, {})).items.map(({ id }) => id)).toEqual([3])
})
