import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { appendFile, readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Export } from '@gateway/contracts/export.js'
import type { PushRecord } from '@gateway/contracts/push.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { isAlive, readProc } from '../harness/processes.js'
import { useGateway } from '../harness/use-gateway.js'

/** The first wait is long enough to see it begin and to kill. */
const RETRY_WAITS = '10,2,2'

const gateway = useGateway({ env: { RETRY_WAITS } }, async (started) => {
  const folder = join(started.home, 'maps/world/v1')
  await makeTileFolder(folder)
  // More than socket buffers hold, so that a receiver that does not read blocks the sender.
  for (let x = 0; x < 4; x++) await appendFile(join(folder, `2/${x}/0.png`), randomBytes(8_000_000))
  await started.admin.scanSource('maps', 'basemap', join(started.home, 'maps'))
})

type Detail = PushRecord & { attempt_log: { outcome: string }[] }

let answer: (request: IncomingMessage, response: ServerResponse) => void
const seen: IncomingMessage[] = []
const receiver = createServer((request, response) => {
  seen.push(request)
  answer(request, response)
})
beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)))
afterAll(() => receiver.closeAllConnections())

async function push(mode: 'notify' | 'upload'): Promise<string> {
  seen.length = 0
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await gateway().admin.expect('/targets', { body: { code: 'receiver', kind: 'http', mode, url } })
  const body = { target_code: 'receiver', basemap_code: 'world', version: 'v1' }
  return (await gateway().admin.expect<PushRecord>('/pushes', { body })).id
}

async function until(id: string, reached: (record: Detail) => boolean): Promise<Detail> {
  for (;;) {
    const record = await gateway().admin.expect<Detail>(`/push-records/${id}`)
    if (reached(record)) return record
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function crash(): Promise<void> {
  gateway().allowErrors(/ECONN|control plane|upstream|fetch failed/i)
  await gateway().controlPlane.process.kill()
  gateway().controlPlane.process.start()
  await gateway().ready()
}

const ended = (record: Detail) => record.next_attempt_at === null

test('a delivery that waits for a retry when the control plane is killed is retried after the restart', async () => {
  answer = (request, response) => {
    request.resume()
    response.writeHead(seen.length === 1 ? 500 : 200).end()
  }
  const id = await push('notify')
  await until(id, ({ status }) => status === 'retrying')
  await crash()
  expect(await until(id, ended)).toMatchObject({ status: 'succeeded', attempts: 2 })
  expect(seen.length).toBe(2)
  expect(new Set(seen.map((one) => one.headers['webhook-id'])).size).toBe(1)
})

const exportsOf = () => join(gateway().home, 'data/exports')

async function startExport(): Promise<string> {
  return (await gateway().admin.expect<Export>('/exports', { body: { basemap_code: 'world', version: 'v1' } })).id
}

/** Waits until the archive is written and returns its checksum. */
async function archive(id: string): Promise<string> {
  await expect.poll(async () => (await gateway().admin.expect<Export>(`/exports/${id}`)).status).toBe('succeeded')
  return createHash('sha256')
    .update(await readFile(join(exportsOf(), `${id}.pmtiles`)))
    .digest('hex')
}

/** Stops the process that writes an archive as soon as the file has content; returns the process id. */
async function stopWriter(id: string): Promise<number> {
  const folder = join(exportsOf(), `.${id}-1.tmp`)
  for (;;) {
    const helpers = gateway().controlPlane.process.workers()
    const writer = helpers.find((pid) => readProc(pid, 'cmdline').includes('archive-process'))
    if (writer !== undefined && existsSync(folder) && readdirSync(folder).length > 0) {
      process.kill(writer, 'SIGSTOP')
      return writer
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('an upload and an export interrupted by a kill of the control plane run again once their leases have expired', async () => {
  let size = 0
  const begun = new Promise<void>((resolve) => {
    answer = (request, response) => {
      if (seen.length === 1) return void request.once('data', () => resolve(void request.pause()))
      request.on('data', (chunk: Buffer) => (size += chunk.length)).on('end', () => response.end('thanks'))
    }
  })
  const whole = await startExport()
  const checksum = await archive(whole)
  const id = await push('upload')
  await begun
  const half = await startExport()
  const writer = await stopWriter(half)
  await crash()
  await expect.poll(() => isAlive(writer)).toBe(false)
  expect(await readdir(exportsOf())).toContain(`.${half}-1.tmp`)
  const record = await until(id, ended)
  expect(record).toMatchObject({ status: 'succeeded', attempts: 1 })
  expect(record.attempt_log.map(({ outcome }) => outcome)).toEqual(['succeeded', 'interrupted'])
  expect(size).toBeGreaterThan(32_000_000)
  expect(await archive(half)).toBe(checksum)
  expect((await readdir(exportsOf())).sort()).toEqual([`${half}.pmtiles`, `${whole}.pmtiles`].sort())
  expect(new Set(seen.map((one) => one.headers['webhook-id'])).size).toBe(1)
})
