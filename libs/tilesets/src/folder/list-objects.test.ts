import type { ListEntry, ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { expect, test } from 'vitest'
import { listObjectZooms } from './list-objects.js'

/** A bucket with the whole world up to a zoom under `world/`; counts the requests that its lists would take. */
function worldTo(maxZoom: number, changed = '') {
  let requests = 0
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
  const tile = (z: number, x: number, y: number): ListEntry => {
    const key = `world/${z}/${x}/${y}.png`
    return { key, facts: { size: 1, etag: key === changed ? 'b' : 'a', modifiedAt: null } }
  }
  function* below(prefix: string, delimiter: string | undefined): Iterable<ListEntry> {
    const [, z = '', x = ''] = prefix.split('/')
    const folders = (count: number) => numbers(count).map((n) => ({ prefix: `${prefix}${n}/` }))
    if (z === '') yield* folders(maxZoom + 1)
    else if (x !== '') for (const y of numbers(2 ** Number(z))) yield tile(Number(z), Number(x), y)
    else if (delimiter === '/') yield* folders(2 ** Number(z))
    else for (const x of numbers(2 ** Number(z))) for (const y of numbers(2 ** Number(z))) yield tile(Number(z), x, y)
  }
  const list: ObjectStore['list'] = async function* (prefix, { delimiter } = {}) {
    let listed = 0
    for (const entry of below(prefix, delimiter)) {
      if (listed++ % 1000 === 0) requests += 1
      yield entry
    }
  }
  return { store: { list } as ObjectStore, requests: () => requests }
}

const zoomsOf = (store: ObjectStore) => listObjectZooms(store, 'world/', 'WebMercatorQuad')

test('a zoom of one page is listed completely, with its columns and rows', async () => {
  const { store, requests } = worldTo(4)
  expect(await zoomsOf(store)).toMatchObject([
    { z: 0 },
    { z: 1 },
    { z: 2 },
    { z: 3, complete: true, minColumn: 0, maxColumn: 7, minRow: 0, maxRow: 7 },
    { z: 4, complete: true, counts: new Map([['png', 256]]) },
  ])
  expect(requests()).toBe(6)
})

test('more than a million tiles take about a hundred requests, and the edges of a zoom are found', async () => {
  const { store, requests } = worldTo(10)
  const deepest = (await zoomsOf(store)).at(-1)
  expect(deepest).toMatchObject({ z: 10, complete: false, minColumn: 0, maxColumn: 1023, minRow: 0, maxRow: 1023 })
  expect(deepest?.columns).toHaveLength(1024)
  expect(requests()).toBeLessThan(150)
})

test('a rewritten tile changes the mark of a completely listed zoom', async () => {
  const marks = async (changed: string) => (await zoomsOf(worldTo(4, changed).store)).map((zoom) => zoom.marks)
  expect(await marks('')).toEqual(await marks(''))
  expect(await marks('')).not.toEqual(await marks('world/4/3/2.png'))
})
