import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="6"><rect width="10" height="6"/></svg>'
const styleNamed = (name: string) =>
  JSON.stringify({ version: 8, name, sprite: 'gateway://sprites/city', sources: {}, layers: [] }, null, 2)
/** A watched source is scanned 2 s after a change, and at most every 10 s. */
const PICKED_UP = { timeout: 120_000 }

const gateway = useGateway({}, async ({ home, admin }) => {
  await mkdir(join(home, 'styles/city/icons'), { recursive: true })
  await writeFile(join(home, 'styles/city/style.json'), styleNamed('First'))
  await writeFile(join(home, 'styles/city/icons/stop.svg'), ICON)
  const source = { code: 'styles', kind: 'style', path: join(home, 'styles'), watch: true }
  await admin.expect('/scan-sources', { method: 'POST', body: source })
  await admin.expect('/scan-sources/styles/run', { method: 'POST' })
})

test('a style that is edited in a watched folder has a new revision, which readers get; a half-written one is left out', async () => {
  const { token } = await gateway().issueToken({})
  const get = (path: string) => fetch(`${gateway().url}${path}`, { headers: { 'x-access-token': token } })
  const seen = async () => {
    const answer = await get('/styles/city/style.json')
    const { name } = (await answer.json()) as { name: string }
    const { revision } = await gateway().admin.expect<{ revision: number }>('/styles/city')
    return { name, revision, etag: answer.headers.get('etag') }
  }
  const first = await seen()
  expect(first).toMatchObject({ name: 'First', revision: 1 })
  const file = join(gateway().home, 'styles/city/style.json')

  await writeFile(file, styleNamed('Second'))
  await expect.poll(seen, PICKED_UP).toMatchObject({ name: 'Second', revision: 2 })
  expect((await seen()).etag).not.toBe(first.etag)

  const third = styleNamed('Third')
  await writeFile(file, third.slice(0, third.length / 2))
  const warned = async () =>
    (await gateway().admin.expect<{ last_scan: { message: string } }>('/scan-sources/styles')).last_scan.message
  await expect.poll(warned, PICKED_UP).toMatch(/"city\/style\.json", line \d+: .*the last valid document of it stays/)
  expect(await seen()).toMatchObject({ name: 'Second', revision: 2 })
  await writeFile(file, third)
  await expect.poll(seen, PICKED_UP).toMatchObject({ name: 'Third', revision: 3 })

  const width = async () =>
    ((await (await get('/styles/city/sprite.json')).json()) as { stop: { width: number } }).stop.width
  expect(await width()).toBe(10)
  await writeFile(join(gateway().home, 'styles/city/icons/stop.svg'), ICON.replace('width="10"', 'width="20"'))
  await expect.poll(width, PICKED_UP).toBe(20)
  expect((await seen()).revision).toBe(4)
})

test('files that are copied again unchanged are no new revision', async () => {
  const folder = join(gateway().home, 'styles/city')
  const revision = async () => (await gateway().admin.expect<{ revision: number }>('/styles/city')).revision
  const before = await revision()
  for (const file of ['style.json', 'icons/stop.svg']) {
    await copyFile(join(folder, file), join(folder, `${file}.copy`))
    await rename(join(folder, `${file}.copy`), join(folder, file))
  }
  const started = Date.now()
  const scanned = async () => {
    const { last_scan: scan } = await gateway().admin.expect<{
      last_scan: { started_at: string; finished_at: string | null }
    }>('/scan-sources/styles')
    return scan.finished_at !== null && Date.parse(scan.started_at) > started
  }
  await expect.poll(scanned, PICKED_UP).toBe(true)
  expect(await revision()).toBe(before)
})
