import { renameSync } from 'node:fs'
import { readScans } from '@gateway/store/scan-sources.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../../testing/test-app.js'
import { scanQueue } from '../queue.js'
import { makeTree, PIXEL, type Tree } from '../testing/trees.js'
import { FolderWatch } from './folder-watch.js'
import { queueDue } from './schedules.js'
import { WatchedSources } from './watching.js'

let app: TestApp
let tree: Tree
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
  tree.put('maps/world/v1/0/0/0.png', PIXEL)
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

async function call(method: 'GET' | 'POST', path: string, payload?: object) {
  const answer = await app.admin({ method, url: `/api/v1/admin${path}`, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}

const save = (more: object) =>
  call('POST', '/scan-sources', { code: 'maps', kind: 'basemap', path: tree.at('maps'), ...more })
const source = async () => (await call('GET', '/scan-sources/maps')).body

/** Runs the queue until the queued scan of the source has succeeded. */
async function runQueue(): Promise<void> {
  const before = (await source()).last_scan?.id
  const stop = new AbortController()
  const running = scanQueue.run({ ...app.ctx, shutdown: stop.signal })
  await expect
    .poll(async () => {
      const { queued_at, last_scan } = await source()
      // A scan that has left the queue may not be recorded yet.
      return [queued_at, last_scan?.id !== before && last_scan?.status]
    })
    .toEqual([null, 'succeeded'])
  stop.abort()
  await running
}

test.each([
  [{ schedule: { every_seconds: 59 } }],
  [{ schedule: { every_seconds: 86_401 } }],
  [{ schedule: { cron: 'every day' } }],
  [{ schedule: { cron: '0 0 30 2 *' } }],
  [{ schedule: { cron: '0 3 * * *', time_zone: 'Mars/Olympus' } }],
  [{ schedule: { cron: '0 3 * * *', every_seconds: 60 } }],
  [{ code: 'bucket', path: 's3://maps/all', watch: true }],
  [{ publish: 'never' }],
])('%j is refused', async (more) => {
  expect((await save(more)).status).toBe(400)
})

test('a due scan is queued once, however many were missed, and records why it ran', async () => {
  const before = Date.now()
  const saved = (await save({ schedule: { every_seconds: 3600 } })).body
  expect(Date.parse(saved.next_scan_at)).toBeGreaterThanOrEqual(before + 3_600_000)
  await queueDue(app.ctx)
  expect((await source()).queued_at).toBeNull()
  const tomorrow = { ...app.ctx, now: () => Date.now() + 86_400_000 }
  await Promise.all([queueDue(tomorrow), queueDue(tomorrow)])
  const { queued_at, next_scan_at } = await source()
  expect([queued_at, Date.parse(next_scan_at) > before + 86_400_000]).toEqual([expect.any(String), true])
  await runQueue()
  await queueDue(tomorrow)
  expect((await source()).queued_at).toBeNull()
  expect(await readScans(app.ctx.sql, 'maps')).toMatchObject([{ reason: 'schedule', next_scan_at }])
})

test('two sources that are due at the same time are scanned one after the other', async () => {
  tree.put('more/moon/v1/0/0/0.png', PIXEL)
  await save({ schedule: { every_seconds: 3600 } })
  const more = { code: 'more', kind: 'basemap', path: tree.at('more'), schedule: { every_seconds: 3600 } }
  await call('POST', '/scan-sources', more)
  await queueDue({ ...app.ctx, now: () => Date.now() + 2 * 86_400_000 })
  const stop = new AbortController()
  const queues = [1, 2].map(() => scanQueue.run({ ...app.ctx, shutdown: stop.signal }))
  const newest = async () => Promise.all(['maps', 'more'].map(async (code) => (await readScans(app.ctx.sql, code))[0]))
  await expect
    .poll(async () => (await newest()).map((scan) => [scan?.reason, scan?.status]))
    .toEqual([
      ['schedule', 'succeeded'],
      ['schedule', 'succeeded'],
    ])
  stop.abort()
  await Promise.all(queues)
  const times = (await newest()).map((scan) =>
    [scan?.started_at, scan?.finished_at].map((at) => Date.parse(at as string)),
  )
  const [first, second] = times.sort((one, other) => (one[0] as number) - (other[0] as number))
  expect(second?.[0]).toBeGreaterThanOrEqual(first?.[1] as number)
  await app.admin({ method: 'DELETE', url: '/api/v1/admin/scan-sources/more' })
})

test('saving other fields keeps the schedule and its time, and null removes it', async () => {
  const { schedule, next_scan_at } = await source()
  expect((await save({ name: 'Maps' })).body).toMatchObject({ schedule, next_scan_at })
  expect((await save({ schedule })).body).toMatchObject({ next_scan_at })
  expect((await save({ enabled: false })).body).toMatchObject({ schedule, next_scan_at: null })
  expect((await save({ enabled: true, schedule: null })).body).toMatchObject({ schedule: null, next_scan_at: null })
})

test('a watched folder is scanned after a rename, and a missing one is scanned every minute with a reason', async () => {
  await save({ watch: true })
  let now = 0
  const watched = new WatchedSources(app.ctx, () => now)
  const maps = { code: 'maps', kind: 'basemap' as const, path: tree.at('maps') }
  try {
    await watched.follow([maps])
    now = 60_000
    await watched.queueDue()
    expect((await source()).queued_at).not.toBeNull()
    await runQueue()
    tree.put('elsewhere/0/0/0.png', PIXEL)
    renameSync(tree.at('elsewhere'), tree.at('maps/world/v2'))
    await expect
      .poll(async () => {
        now += 12_000
        await watched.queueDue()
        return (await source()).queued_at
      })
      .not.toBeNull()
    await runQueue()
    expect((await source()).last_scan).toMatchObject({ reason: 'watch', added: 1 })
    const gone = { ...maps, path: tree.at('gone') }
    await watched.follow([gone])
    const { watch, watch_problem, queued_at } = await source()
    expect([watch, watch_problem, queued_at]).toEqual([true, expect.stringContaining('gone'), expect.any(String)])
  } finally {
    watched.close()
  }
})

test('a tile tree gets watches for its folders down to the zooms, and a limit ends the watch with its reason', async () => {
  for (let x = 0; x < 20; x++) tree.put(`deep/world/v1/9/${x}/0.png`, PIXEL)
  const problems: string[] = []
  const events = { onChange: () => {}, onProblem: (problem: string) => problems.push(problem) }
  const [roomy, narrow] = [new FolderWatch(events, 3), new FolderWatch(events, 3, 2)]
  await roomy.open(tree.at('deep'))
  expect([roomy.watches, problems]).toEqual([4, []])
  await narrow.open(tree.at('deep'))
  expect([narrow.watches, problems]).toEqual([0, ['more than 2 folders are to be watched']])
  roomy.close()
})
