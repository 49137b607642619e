import { mkdir, readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { openStore, type Sql } from '@gateway/store/connect.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import { useGateway } from '../harness/use-gateway.js'
import { options, say, seeded } from './options.js'

const IMPORT_TOKEN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
/** Maximum time between two kills: usually in the middle of a start or of some work, sometimes long enough for a lease to expire. */
const LONGEST_LIFE_MS = 16_000
const ENDED_WITHIN_MS = 300_000
/** Maximum number of jobs that run or wait. */
const MAX_OPEN_JOBS = 4
const LAYERS = 3

const random = seeded(options.seed)
const gateway = useGateway(
  { env: { RETRY_WAITS: '2,2,2', IMPORT_TOKEN, CALLBACK_ALLOW: '127.0.0.0/8' } },
  async ({ home, admin }) => {
    await makeGeotiff(join(home, 'image.tif'), { bounds: [5, 45, 11, 51], colour: { r: 9, g: 99, b: 199 }, size: 512 })
    await makeTileFolder(join(home, 'maps/world/v1'), { maxZoom: 3 })
    await makeGeojson(join(home, 'vectors/roads.geojson'), 2_000)
    await mkdir(join(home, 'pushed'))
    await admin.scanSource('maps', 'basemap', join(home, 'maps'))
    await admin.scanSource('vectors', 'vector', join(home, 'vectors'))
  },
)

/** Deliveries at the receiver by their ids, and callbacks also by the job's id. */
const arrived = new Map<string, number>()
const calledBack = new Map<string, Set<string>>()
/** The last complete upload of a vector, which is also used as an import. */
let upload: { type: string; body: Buffer } | null = null

const receiver = createServer(async (request, response) => {
  const body = await buffer(request).catch(() => null)
  // The sender was killed in the middle: nothing has arrived.
  if (body === null) return
  const id = String(request.headers['webhook-id'])
  arrived.set(id, (arrived.get(id) ?? 0) + 1)
  if (request.url === '/callback') {
    const { job } = JSON.parse(body.toString()) as { job: SliceJob }
    calledBack.set(job.id, (calledBack.get(job.id) ?? new Set()).add(id))
  }
  if (request.url === '/upload' && body.includes('vector.pushed'))
    upload = { type: String(request.headers['content-type']), body }
  await sleep(300 * random())
  response.end('thanks')
})
beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  receiver.closeAllConnections()
  receiver.close()
})

const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

/** Retries until the response is 2xx: the control plane may be gone, or go away while it responds. */
async function insist<T>(path: string, body?: unknown): Promise<T> {
  for (;;) {
    const answer = await gateway()
      .admin.call<T>(path, body === undefined ? {} : { body })
      .catch(() => null)
    if (answer !== null && answer.status < 300) return answer.body
    if (answer !== null && answer.status < 500)
      throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    await sleep(100)
  }
}

const submission = (code: string, target_code: string) => ({
  code,
  target_code,
  source_paths: [join(gateway().home, 'image.tif')],
  zoom_max: 9,
  callback_url: `${receiverUrl()}/callback`,
})

test(`${options.kills} kills of the control plane: every requested task ends once`, {
  timeout: 3_600_000,
}, async () => {
  const { kills, seed } = options
  say(`kills: ${kills}, seed ${seed}`)
  gateway().allowErrors(/./)
  for (const [code, place] of Object.entries({
    notified: { kind: 'http', mode: 'notify', url: `${receiverUrl()}/notify` },
    uploaded: { kind: 'http', mode: 'upload', url: `${receiverUrl()}/upload` },
    folder: { kind: 'directory', mode: 'upload', path: join(gateway().home, 'pushed') },
  }))
    await insist('/targets', { code, ...place })
  await insist('/slice/jobs', submission('reference', 'reference'))
  await insist('/vector-pushes', { target_code: 'uploaded', vector_code: 'roads' })
  while (upload === null || (await openJobs()) > 0) await sleep(50)

  let working = true
  const codes = ['reference']
  const again = async (pauseMs: number, once: () => Promise<unknown>) => {
    while (working) {
      await once()
      await sleep(pauseMs * random())
    }
  }
  let imports = 0
  const work = Promise.all([
    again(1_000, async () => {
      if ((await openJobs()) >= MAX_OPEN_JOBS) return
      const code = `job-${codes.length}`
      codes.push(code)
      await insist('/slice/jobs', submission(code, `layer${codes.length % LAYERS}`))
    }),
    again(1_500, () => insist('/pushes', { target_code: 'notified', basemap_code: 'world', version: 'v1' })),
    again(2_500, () => insist('/pushes', { target_code: 'uploaded', basemap_code: 'world', version: 'v1' })),
    again(2_500, () => insist('/vector-pushes', { target_code: 'folder', vector_code: 'roads' })),
    // Another scan may be running (409), or the control plane is gone.
    again(2_000, () =>
      gateway()
        .admin.call(`/scan-sources/${random() < 0.5 ? 'maps' : 'vectors'}/run`, { method: 'POST' })
        .catch(() => {}),
    ),
    again(2_500, async () => {
      if (await importOnce()) imports++
    }),
  ])
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(LONGEST_LIFE_MS * random() ** 2)
    const { process } = gateway().controlPlane
    await process.kill()
    process.start()
    // Sometimes it is killed again while it starts.
    if (random() < 0.8) await gateway().ready()
    say(`kill ${kill}: ${await state()}`)
  }
  await gateway().ready()
  working = false
  await work
  await untilAllEnded()
  say(`ended: ${await state()}; ${imports} imports, ${arrived.size} deliveries arrived`)
  // One more scan of each source covers files that an unfinished scan had not seen.
  for (const code of ['maps', 'vectors']) await gateway().admin.rescan(code)
  while (!(await importOnce())) await sleep(100)

  await inStore(async (sql) => {
    const jobs = await sql<{ code: string; id: string; status: string; message: string }[]>`
      SELECT code, id, status, message FROM slice_jobs ORDER BY finished_at`
    expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([])
    expect(
      jobs.map(({ code }) => code),
      'each job once, in the order of submission',
    ).toEqual(codes)
    const callbacks = jobs.map(({ id }) => calledBack.get(id)?.size ?? 0)
    expect(callbacks, 'one id of all callbacks of a job').toEqual(jobs.map(() => 1))
    const deliveries = await sql<
      { id: string; kind: string; target_code: string | null; status: string; message: string }[]
    >`
      SELECT id, kind, target_code, status, message FROM deliveries`
    expect(deliveries.filter(({ status }) => status !== 'succeeded')).toEqual([])
    const sent = deliveries.filter(({ target_code }) => target_code !== 'folder')
    expect(arrived.size, 'as many ids as deliveries').toBe(sent.length)
    expect(await sql`SELECT id FROM deliveries WHERE lease_owner IS NOT NULL`).toEqual([])
    expect(await sql`SELECT id FROM slice_jobs WHERE lease_owner IS NOT NULL`).toEqual([])
    expect(await sql`SELECT * FROM scans WHERE finished_at IS NULL OR status = 'running'`).toEqual([])
  })
  const reference = await filesBelow(join(gateway().dataDir, 'layers/reference'))
  expect(reference.length).toBeGreaterThan(10)
  for (let i = 0; i < Math.min(LAYERS, codes.length - 1); i++) {
    const layer = await filesBelow(join(gateway().dataDir, `layers/layer${i}`))
    expect(layer, `layer${i} is complete`).toEqual(reference)
  }
  const left = async () =>
    [...(await filesBelow(gateway().dataDir)), ...(await filesBelow(join(gateway().home, 'pushed')))].filter((file) =>
      /(^|\/)\.|tmp|staging|\.part|partial/i.test(file),
    )
  // The last import and scans may still build vector tiles, and an interrupted build is repeated once its lease has expired.
  await expect.poll(left, { timeout: ENDED_WITHIN_MS, interval: 1_000 }).toEqual([])
})

/** Uploads a vector as another gateway would. false: the control plane was gone, or went away meanwhile. */
async function importOnce(): Promise<boolean> {
  const { type, body } = upload as { type: string; body: Buffer }
  const answer = await fetch(`${gateway().controlPlane.url}/api/v1/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${IMPORT_TOKEN}`, 'content-type': type },
    body: new Uint8Array(body),
  }).catch(() => null)
  const text = await answer?.text().catch(() => null)
  if (answer === null || text === null) return false
  expect([200, 503], text).toContain(answer.status)
  return answer.status === 200
}

async function inStore<T>(ask: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openStore(gateway().database.url, { applicationName: 'harness', maxConnections: 1 })
  try {
    return await ask(sql)
  } finally {
    await sql.end()
  }
}

const openJobs = () =>
  inStore(async (sql) => (await sql`SELECT id FROM slice_jobs WHERE status IN ('pending', 'running')`).length)

function state(): Promise<string> {
  return inStore(async (sql) => {
    const jobs = await sql<
      { status: string; n: number }[]
    >`SELECT status, count(*)::int AS n FROM slice_jobs GROUP BY 1`
    const deliveries = await sql<{ status: string; n: number }[]>`
      SELECT status, count(*)::int AS n FROM deliveries GROUP BY 1`
    const words = (rows: readonly { status: string; n: number }[]) =>
      rows.map(({ status, n }) => `${n} ${status}`).join(', ')
    return `jobs ${words(jobs)}; deliveries ${words(deliveries)}`
  })
}

async function untilAllEnded(): Promise<void> {
  const deadline = Date.now() + ENDED_WITHIN_MS
  for (;;) {
    // Jobs first: their ends create deliveries.
    const jobs = await openJobs()
    const open = await inStore(
      async (sql) =>
        (await sql`SELECT id FROM deliveries WHERE due_at IS NOT NULL`).length +
        (await sql`SELECT * FROM scans WHERE finished_at IS NULL`).length,
    )
    if (jobs + open === 0) return
    if (Date.now() > deadline) throw new Error(`not everything ends: ${await state()}`)
    await sleep(500)
  }
}

/** Returns relative paths of all non-empty files except those of Postgres, which is not part of the data directory here. */
async function filesBelow(dir: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await stat(path)).size > 0) found.push(path.slice(dir.length + 1))
    else if (/^\./.test(entry.name)) found.push(path.slice(dir.length + 1))
  }
  // Versions are named by their days.
  return found.map((path) => path.replace(/^[^/]+\/(?=\d+\/\d+\/\d+\.)/, '')).sort()
}
