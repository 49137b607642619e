import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { openStore } from '@gateway/store/connect.js'
import { expect, test } from 'vitest'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import { useGateway } from '../harness/use-gateway.js'

const gateway = useGateway({}, async (started) => {
  await makeGeotiff(join(started.home, 'image.tif'), {
    bounds: [5, 45, 11, 51],
    colour: { r: 9, g: 99, b: 199 },
    size: 1024,
  })
})

const KILLS = 4

/** Approximate duration of a job of this image, so that kills fall before, in and after its phases. */
const SPREAD_MS = 2500

test('after a kill during jobs the restarted control plane finishes all jobs in order, with no staging left', {
  timeout: 240_000,
}, async () => {
  gateway().allowErrors(/ECONN|connect|terminat|slic/i)
  const jobs: SliceJob[] = []
  for (let i = 0; i < KILLS; i++) {
    jobs.push(
      await gateway().admin.expect<SliceJob>('/slice/jobs', {
        body: {
          target_code: `layer${i % 2}`,
          source_paths: [join(gateway().home, 'image.tif')],
          zoom_max: 9,
          code: `job-${i}`,
        },
      }),
    )
  }
  for (let i = 0; i < KILLS; i++) {
    await sleep(Math.random() * SPREAD_MS)
    await gateway().controlPlane.process.kill()
    gateway().controlPlane.process.start()
    await gateway().ready()
  }
  const ended = await Promise.all(jobs.map(({ id }) => untilEnded(id)))
  expect(ended.map((job) => [job.code, job.status, job.message])).toEqual(
    jobs.map((job) => [job.code, 'succeeded', '']),
  )
  expect(await codesByEnd()).toEqual(jobs.map((job) => job.code))
  const { token } = await gateway().issueToken({ basemap_codes: ['*'] })
  // A job waits for edges, but no longer than its time limit.
  await gateway().caughtUp()
  for (const layer of ['layer0', 'layer1']) {
    expect((await readdir(join(gateway().dataDir, 'layers', layer))).filter((name) => name.startsWith('.'))).toEqual([])
    const tile = await fetch(`${gateway().url}/tiles/${layer}/0/0/0.webp?token=${token}`)
    expect(tile.status).toBe(200)
  }
  const finished = await gateway().admin.expect<{ items: SliceJob[] }>('/slice/jobs')
  expect(finished.items.filter((job) => job.status !== 'succeeded')).toEqual([])
})

test('a cancelled job ends as failed and leaves the layer as it was', async () => {
  const before = await catalog()
  const job = await gateway().admin.expect<SliceJob>('/slice/jobs', {
    body: { target_code: 'layer0', source_paths: [join(gateway().home, 'image.tif')], zoom_max: 14 },
  })
  while ((await read(job.id)).status === 'pending') await sleep(50)
  await gateway().admin.expect(`/slice/jobs/${job.id}/cancel`, { method: 'POST' })
  expect(await untilEnded(job.id)).toMatchObject({
    status: 'failed',
    cancelled: true,
    message: expect.stringMatching(/^cancelled by ADMIN_TOKEN at .*Z$/),
  })
  expect(await catalog()).toEqual(before)
  expect((await gateway().admin.call(`/slice/jobs/${job.id}/cancel`, { method: 'POST' })).status).toBe(409)
})

/** But for what usage tells, which follows requests by seconds. */
async function catalog(): Promise<unknown> {
  const { items } = await gateway().admin.expect<{ items: { requests_per_day: number }[] }>('/basemaps')
  return items.map(({ requests_per_day: _, ...item }) => item)
}

/** The interface does not tell when a job ended; the store does. */
async function codesByEnd(): Promise<string[]> {
  const sql = openStore(gateway().database.url, { applicationName: 'harness', maxConnections: 1 })
  const rows = await sql<{ code: string }[]>`SELECT code FROM slice_jobs ORDER BY finished_at`
  await sql.end()
  return rows.map((row) => row.code)
}

const read = (id: string) => gateway().admin.expect<SliceJob>(`/slice/jobs/${id}`)

async function untilEnded(id: string): Promise<SliceJob> {
  for (;;) {
    const job = await read(id)
    if (job.status === 'succeeded' || job.status === 'failed') return job
    await sleep(100)
  }
}
