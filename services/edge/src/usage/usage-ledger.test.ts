import type { UsageRow } from '@gateway/contracts/usage.js'
import { expect, test } from 'vitest'
import { UsageLedger } from './usage-ledger.js'

const row = (id: string, requests = 1): UsageRow => ({
  kind: 'token',
  id,
  at: 0,
  requests,
  tiles: 0,
  tile_404: 0,
  refused: 0,
  bytes: 0,
})

test('a batch without a confirmation is written again unchanged, and later rows after it', async () => {
  const written: [batch: number, requests: number[]][] = []
  let down = true
  const ledger = new UsageLedger(async (_, batch, rows) => {
    written.push([batch, rows.map(({ requests }) => requests)])
    if (down) throw new Error('down')
  })
  ledger.add([row('a'), row('b', 2)])
  await expect(ledger.save()).rejects.toThrow('down')
  ledger.add([row('a', 5)])
  await expect(ledger.save()).rejects.toThrow('down')
  down = false
  await ledger.save()
  expect(written).toEqual([
    [1, [1, 2]],
    [1, [1, 2]],
    [1, [1, 2]],
    [2, [5]],
  ])
  expect(ledger.isEmpty).toBe(true)
})

test('rows of one hour add up, and are written in batches of a bounded size', async () => {
  const sizes: number[] = []
  let requests = 0
  const ledger = new UsageLedger(async (_, __, rows) => {
    sizes.push(rows.length)
    for (const one of rows) requests += one.requests
  })
  const rows = Array.from({ length: 4_500 }, (_, i) => row(`token-${i}`))
  ledger.add(rows)
  ledger.add(rows)
  await ledger.save()
  expect(sizes).toEqual([2_000, 2_000, 500])
  expect(requests).toBe(9_000)
})

test('pairs without room count for other tokens, and nothing is lost', async () => {
  const saved: UsageRow[] = []
  const ledger = new UsageLedger(async (_, __, rows) => void saved.push(...rows))
  const pair = (i: number): UsageRow => ({ ...row(`${i}/alps`), kind: 'token,basemap' })
  for (let i = 0; i < 100_003; i++) ledger.add([pair(i)])
  ledger.add([pair(0)])
  await ledger.save()
  const told = new Map(saved.map(({ id, requests }) => [id, requests]))
  expect([told.size, told.get('0/alps'), told.get('other/alps'), ledger.takeLost()]).toEqual([100_001, 2, 3, 0])
})

test('rows that are added while a batch is written are not written with it, nor lost', async () => {
  const written: number[][] = []
  const ledger: UsageLedger = new UsageLedger(async (_, batch, rows) => {
    if (batch === 1) ledger.add([row('a', 10)])
    written.push(rows.map(({ requests }) => requests))
  })
  ledger.add([row('a')])
  await Promise.all([ledger.save(), ledger.save()])
  expect(written).toEqual([[1], [10]])
})

test('the rows that wait for an unreachable store are bounded, and losses are reported', () => {
  const ledger = new UsageLedger(async () => {})
  for (let i = 0; i < 200_000; i++) ledger.add([row(String(i))])
  ledger.add([row('one more', 3), row('0')])
  expect([ledger.takeLost(), ledger.takeLost()]).toEqual([3, 0])
})
