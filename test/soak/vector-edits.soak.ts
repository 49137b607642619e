import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../harness/start-gateway.js'
import { options, say } from './options.js'
import { Tally } from './tally.js'
import { editUnderLoad, writeEdit } from './vector-edits.js'

test('a vector is replaced every two seconds under load, with no wrong tile and no mixture of contents', {
  timeout: (options.minutes + 3) * 60_000,
}, async () => {
  const gateway = await startGateway({ edgeWorkers: 2 })
  const folder = join(gateway.home, 'vectors')
  await mkdir(folder)
  await writeEdit(folder, 1)
  const { admin, url } = gateway
  await admin.scanSource('vectors', 'vector', folder)
  const { token } = await gateway.issueToken({ vector_codes: ['*'] })
  const ready = async () => (await admin.expect<{ tiles: { status: string } }>('/vectors/edited')).tiles.status
  await expect.poll(ready).toBe('ready')
  await gateway.caughtUp()
  const tally = new Tally(false)
  const seconds = options.minutes * 60
  const last = await editUnderLoad({
    url,
    admin,
    folder,
    token,
    seconds,
    everyMs: 2_000,
    readers: 2,
    tally,
  })
  say(`${last} edits\n${tally.text()}`)
  expect(tally.problems).toEqual([])
  await admin.rescan('vectors')
  await expect.poll(ready).toBe('ready')
  await gateway.stop()
})
