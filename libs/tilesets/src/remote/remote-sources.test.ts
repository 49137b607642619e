import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import { afterEach, expect, test } from 'vitest'
import { MbtilesReaders } from '../mbtiles/readers/readers.js'
import { BlockCache } from './block-cache.js'
import { RemoteSources } from './remote-sources.js'

const never = () => new Promise<string>(() => {})

let sources: RemoteSources
afterEach(() => sources.close())

function open(limitMs: number): RemoteSources {
  const cache = new BlockCache({
    directory: '/nonexistent',
    capacityBytes: 0,
    processes: 1,
    onTrouble: () => {},
    onWorking: () => {},
  })
  const mbtiles = new MbtilesReaders({ onHang: () => {}, onAnswer: () => {} })
  const openStore = () => {
    throw new Error('no store is asked')
  }
  sources = new RemoteSources({ openStore, cache, cached: null, mbtiles, onReplaced: () => {}, limitMs })
  return sources
}

test('storage that does not respond in time counts as failed, and the log says so', async () => {
  const waited = open(10).wait('s3://maps', never)
  await expect(waited).rejects.toThrow(ObjectStoreTrouble)
  await expect(waited).rejects.toThrow('no answer within 0.01 s')
})

test('a limited number of requests waits for one source; others are not affected', async () => {
  const all = open(60_000)
  for (let i = 0; i < 1_024; i++) void all.wait('s3://maps', never).catch(() => {})
  await expect(all.wait('s3://maps', never)).rejects.toThrow(ObjectStoreTrouble)
  expect(await all.wait('s3://other', async () => 'a tile')).toBe('a tile')
})
