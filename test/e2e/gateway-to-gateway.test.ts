import { join } from 'node:path'
import type { PushRecord } from '@gateway/contracts/push.js'
import { expect, test } from 'vitest'
import { makePmtiles, makeTileFolder } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { useGateway } from '../harness/use-gateway.js'

const TOKEN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const near = useGateway({ env: { RETRY_WAITS: '1' } }, async (gateway) => {
  await makeTileFolder(join(gateway.home, 'maps/world/2026-01'), { shade: 40 })
  await makePmtiles(join(gateway.home, 'maps/world/2026-02.pmtiles'), { shade: 80 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'maps'))
})
const far = useGateway({ env: { IMPORT_TOKEN: TOKEN } })

async function push(target: object, version: string): Promise<PushRecord & { attempt_log: { answer: string }[] }> {
  await near().admin.expect('/targets', { body: { code: 'far', ...target } })
  const body = { target_code: 'far', basemap_code: 'world', version }
  const { id } = await near().admin.expect<PushRecord>('/pushes', { body })
  for (;;) {
    const record = await near().admin.expect<PushRecord & { attempt_log: { answer: string }[] }>(`/push-records/${id}`)
    if (record.next_attempt_at === null) return record
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function tile(gateway: Gateway, version: string): Promise<{ status: number; bytes: Buffer }> {
  const { token } = await gateway.issueToken({ basemap_codes: ['*'] })
  const answer = await fetch(`${gateway.url}/tiles/world/${version}/2/1/3.png?token=${token}`)
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

test.each(['2026-01', '2026-02'])('version %s, pushed over HTTP, is served by the other gateway', async (version) => {
  const url = `${far().controlPlane.url}/api/v1/import`
  const record = await push({ kind: 'http', mode: 'upload', url, secret: TOKEN }, version)
  expect(record, record.attempt_log[0]?.answer).toMatchObject({ status: 'succeeded' })
  await far().caughtUp()
  const [here, there] = [await tile(near(), version), await tile(far(), version)]
  expect(there.status).toBe(200)
  expect(there.bytes.equals(here.bytes)).toBe(true)
})

test('a version copied into a scan source of the other gateway is served there after a scan', async () => {
  const shelf = join(far().dataDir, 'imports/basemaps')
  const record = await push({ kind: 'directory', path: shelf }, '2026-01')
  expect(record).toMatchObject({ status: 'succeeded' })
  await far().admin.rescan('imports')
  expect((await tile(far(), '2026-01')).status).toBe(200)
})
