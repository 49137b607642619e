import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { makeEndlessTable, makeEndlessView } from '@gateway/tilesets/testing/endless-archives.js'
import { ZipArchive } from 'archiver'
import { expect, test } from 'vitest'
import { makeMbtiles, makeTileFolder } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { childrenOf, isAlive } from '../harness/processes.js'
import { useGateway } from '../harness/use-gateway.js'

const IMPORT_TOKEN = 'endless-import-token'
let token = ''

async function prepare(gateway: Gateway): Promise<void> {
  await makeTileFolder(join(gateway.home, 'maps/world/v1'))
  await makeMbtiles(join(gateway.home, 'maps/good.mbtiles'), { maxZoom: 4 })
  await makeMbtiles(join(gateway.home, 'swapped/swapped.mbtiles'))
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'maps'))
  await gateway.admin.scanSource('swapped', 'basemap', join(gateway.home, 'swapped'))
  token = (await gateway.issueToken({ basemap_codes: ['*'] })).token
}

const gateway = useGateway({ edges: 1, edgeWorkers: 1, env: { IMPORT_TOKEN } }, prepare)

const ask = (path: string) => fetch(`${gateway().url}${path}`, { headers: { 'x-access-token': token } })
const statusOf = async (path: string) => (await ask(path)).status

async function importArchive(make: (file: string) => void): Promise<{ status: number; error: string }> {
  const file = join(gateway().home, `${make.name}.mbtiles`)
  make(file)
  const zip = new ZipArchive({ store: true })
  zip.file(file, { name: 'hostile/v1.mbtiles' })
  void zip.finalize()
  const form = new FormData()
  const record = { basemap_code: 'hostile', version: 'v1' }
  form.append('event', JSON.stringify({ event: 'basemap.version.pushed', record, basemap: { name: 'Hostile' } }))
  form.append('archive', new Blob([new Uint8Array(await buffer(zip))], { type: 'application/zip' }), 'a.zip')
  const headers = { authorization: `Bearer ${IMPORT_TOKEN}` }
  const answer = await fetch(`${gateway().controlPlane.url}/api/v1/import`, { method: 'POST', body: form, headers })
  return { status: answer.status, error: ((await answer.json()) as { error: string }).error }
}

test('endless archives block no scan, no control plane and no edge', async () => {
  gateway().allowErrors(/does not respond/)
  const { home, controlPlane, admin } = gateway()
  expect(await importArchive(makeEndlessView)).toMatchObject({ status: 400, error: expect.stringContaining('view') })

  await mkdir(join(home, 'hostile'))
  makeEndlessView(join(home, 'hostile/view.mbtiles'))
  makeEndlessTable(join(home, 'hostile/endless.mbtiles'))
  await makeMbtiles(join(home, 'hostile/zebra.mbtiles'))
  // Replaces a known archive, since a file may change between its scan and a request for its tile.
  makeEndlessTable(join(home, 'swapped/new'))
  await rename(join(home, 'swapped/new'), join(home, 'swapped/swapped.mbtiles'))

  let over = 0
  const count = () => over++
  const scan = admin.scanSource('hostile', 'basemap', join(home, 'hostile')).finally(count)
  const imported = importArchive(makeEndlessTable).finally(count)
  const tiles = [0, 1, 2].map((y) => ask(`/tiles/swapped/2/1/${y}.png`).finally(count))
  for (let y = 0; y < 4; y++) {
    expect(await statusOf(`/tiles/good/4/${y}/${y}.png`)).toBe(200)
    expect(await statusOf(`/tiles/world/2/${y}/1.png`)).toBe(200)
    expect(await statusOf('/health')).toBe(200)
    expect((await fetch(`${controlPlane.url}/health`)).status).toBe(200)
    expect(await statusOf('/api/v1/catalog/basemaps')).toBe(200)
  }
  expect(over).toBe(0)

  for (const answer of await Promise.all(tiles)) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.any(String)])
    expect(await answer.json()).toEqual({ error: expect.stringContaining('does not respond') })
  }
  expect(await imported).toMatchObject({ status: 400, error: expect.stringContaining('could not be read within') })
  const { added, message } = await scan
  expect([added, message]).toEqual([
    1,
    expect.stringMatching(/"endless.mbtiles" stays as it was.*"view.mbtiles" cannot/),
  ])
  expect(await statusOf('/tiles/zebra/2/1/1.png')).toBe(200)
  expect(await statusOf('/tiles/swapped/2/1/1.png')).toBe(503)
  await admin.rescan('maps')
})

test('an edge whose archive never ends stops on request, and leaves no process behind', async () => {
  const edge = gateway().edges[0]?.process
  const readers = (edge?.workers() ?? []).flatMap(childrenOf)
  expect(readers.length).toBeGreaterThan(0)
  edge?.signal('SIGTERM')
  expect(await edge?.ended()).toEqual({ code: 0, signal: null })
  expect((edge?.lines ?? []).filter(({ raw }) => raw.includes('did not end in time'))).toEqual([])
  while (readers.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 20))
})
