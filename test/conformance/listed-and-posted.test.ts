import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { Target } from '@gateway/contracts/target.js'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const gateway = useGateway()

test('a listed scan source can be posted unchanged except for the new values', async () => {
  const { admin } = gateway()
  await admin.expect('/scan-sources', { body: { code: 'imagery', kind: 'basemap', path: '/nowhere', name: 'Imagery' } })
  await admin.expect('/scan-sources/imagery/run', { method: 'POST' })
  const listed = await listedAs<ScanSource>('/scan-sources', 'imagery')
  expect(listed.last_scan).toMatchObject({ status: 'failed' })
  const saved = await admin.expect<ScanSource>('/scan-sources', { body: { ...listed, enabled: false } })
  expect(saved).toMatchObject({ ...listed, enabled: false })
})

test.each([
  ['http', { url: 'https://portal.example.org/hook', mode: 'upload', secret: 'a secret' }],
  ['directory', { path: '/srv/maps' }],
])('a listed target of kind %s can be posted as it is, and keeps its secret', async (kind, more) => {
  const { admin } = gateway()
  await admin.expect('/targets', { body: { code: kind, kind, ...more } })
  const listed = await listedAs<Target>('/targets', kind)
  const saved = await admin.expect<Target>('/targets', { body: { ...listed, name: 'Renamed' } })
  expect(saved).toMatchObject({ ...listed, name: 'Renamed' })
})

async function listedAs<T extends { code: string }>(path: string, code: string): Promise<T> {
  const { items } = await gateway().admin.expect<{ items: T[] }>(path)
  return items.find((item) => item.code === code) as T
}
