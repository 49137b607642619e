import { createLog } from '@gateway/core/logging/log.js'
import { afterEach, describe, expect, test } from 'vitest'
import { LeaseKeeper, recordEnd } from './leases.js'

const TIMES = { leaseSeconds: 10, renewMs: 3_600_000 }
const A = { id: 'a' }
const B = { id: 'b' }

const keepers: LeaseKeeper<{ id: string }>[] = []
afterEach(() => {
  for (const keeper of keepers.splice(0)) keeper.close()
})

/** @param renew null: the store cannot be reached */
function keeper(renew: (ids: string[]) => string[] | null): LeaseKeeper<{ id: string }> {
  const made = new LeaseKeeper<{ id: string }>(TIMES, async (leases) => {
    const kept = renew(leases.map(({ id }) => id))
    if (kept === null) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    return new Set(kept)
  })
  keepers.push(made)
  return made
}

const secondsAgo = (seconds: number) => performance.now() - 1000 * seconds

describe('leases', () => {
  test('work whose lease is not renewed is aborted as lost, other work continues', async () => {
    const leases = keeper(() => ['a'])
    const [a, b] = [leases.hold(A, performance.now()), leases.hold(B, performance.now())]
    expect(await leases.renew()).toBe(true)
    expect(a.aborted).toBe(false)
    expect([b.aborted, b.reason]).toEqual([true, 'lost'])
  })

  test('without the store, work continues until three seconds before its lease may be taken over', async () => {
    const leases = keeper(() => null)
    const [a, b] = [leases.hold(A, secondsAgo(1)), leases.hold(B, secondsAgo(7.1))]
    expect(await leases.renew()).toBe(false)
    expect(a.aborted).toBe(false)
    expect([b.aborted, b.reason]).toEqual([true, 'lost'])
  })

  test('a renewed lease lasts from the time of its request', async () => {
    let up = true
    const leases = keeper((ids) => (up ? ids : null))
    const a = leases.hold(A, secondsAgo(6.9))
    await leases.renew()
    up = false
    await leases.renew()
    expect(a.aborted).toBe(false)
  })

  test('a released lease is neither renewed nor lost, even if it is released during a renewal', async () => {
    const renewed: string[][] = []
    const leases = keeper((ids) => {
      renewed.push(ids)
      leases.release(A)
      return []
    })
    const a = leases.hold(A, performance.now())
    await leases.renew()
    await leases.renew()
    expect(a.aborted).toBe(false)
    expect(renewed).toEqual([['a']])
  })

  test('all work is aborted as stopped when the process stops', () => {
    const leases = keeper(() => [])
    const signals = [leases.hold(A, performance.now()), leases.hold(B, performance.now())]
    leases.stopAll()
    expect(signals.map(({ reason }) => reason)).toEqual(['stopped', 'stopped'])
  })
})

describe('an outcome', () => {
  const log = createLog('test', 'silent')
  const away = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })

  test('is recorded as soon as the store is back', async () => {
    let attempts = 0
    const write = async () => {
      if (++attempts === 1) throw away()
      return 'recorded'
    }
    expect(await recordEnd(log, new AbortController().signal, write)).toBe('recorded')
    expect(attempts).toBe(2)
  })

  test('is given up once the lease is lost, and on a programming error at once', async () => {
    let attempts = 0
    const failing = (error: Error) => async () => {
      attempts++
      throw error
    }
    await expect(recordEnd(log, AbortSignal.abort('lost'), failing(away()))).rejects.toThrow('refused')
    await expect(recordEnd(log, new AbortController().signal, failing(new Error('a mistake')))).rejects.toThrow(
      'mistake',
    )
    expect(attempts).toBe(2)
  })
})
