import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../harness/start-gateway.js'
import { Tally } from '../soak/tally.js'
import { editUnderLoad, writeEdit } from '../soak/vector-edits.js'

test('a vector that is replaced every two seconds under load shows one content at a time, and a disabled token none', async () => {
  const gateway = await startGateway({ edgeWorkers: 2 })
  const folder = join(gateway.home, 'vectors')
  await mkdir(folder)
  await writeEdit(folder, 1)
  const { admin, url } = gateway
  await admin.scanSource('vectors', 'vector', folder)
  const { token, id } = await gateway.issueToken({ vector_codes: ['*'] })
  const ask = (path: string) => fetch(url + path, { headers: { 'x-access-token': token } })
  const tile = '/vectors/edited/tiles/6/33/21.mvt'
  await expect.poll(async () => (await ask(tile)).status).toBe(200)

  const tally = new Tally(false)
  const last = await editUnderLoad({
    url,
    admin,
    folder,
    token,
    seconds: 20,
    everyMs: 2_000,
    readers: 1,
    tally,
  })
  expect(tally.problems).toEqual([])

  // The last content is shown in the end, whatever was cancelled before.
  await admin.rescan('vectors')
  const shown = async () => {
    const body = (await (await ask('/ogc/collections/edited/items?limit=1')).json()) as {
      features: { properties: { edit: number } }[]
    }
    return body.features[0]?.properties.edit
  }
  await expect.poll(shown).toBe(last)
  const state = () => admin.expect<{ tiles: { status: string } }>('/vectors/edited')
  await expect.poll(async () => (await state()).tiles.status).toBe('ready')

  await admin.expect(`/tokens/${id}/disable`, { method: 'POST' })
  const rooms = [tile, '/ogc/collections/edited/items', '/vectors/edited/download', '/vectors/edited.csv']
  const answers = await Promise.all(rooms.map(async (room) => (await ask(room)).status))
  expect(answers).toEqual([401, 401, 401, 401])
  await gateway.stop()
})
