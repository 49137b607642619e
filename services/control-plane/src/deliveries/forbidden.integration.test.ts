import { LOOPBACK, NEVER } from '@gateway/core/outgoing/testing/forbidden.js'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ForbiddenRun, Sending } from './testing/forbidden-run.js'
import type { HangingNamesRun } from './testing/hanging-names-run.js'
import { ownNetwork, runInOwnNetwork } from './testing/own-network.js'

const network = ownNetwork()
if (typeof network === 'string') {
  console.warn(
    `Not tested: no packet leaves for forbidden destinations, names that hang. No network namespace here: ${network}`,
  )
}

describe.skipIf(typeof network === 'string')(
  'in a network that counts every packet and answers at every address,',
  () => {
    let run: ForbiddenRun
    beforeAll(async () => {
      run = await runInOwnNetwork<ForbiddenRun>(network as readonly string[], 'forbidden-run')
    })

    const forms = NEVER.length + LOOPBACK.length
    const nothing = { delivered: false, packets: 0, connections: 0, lookUpPackets: 0, reached: [] }
    const wrong = (sendings: readonly Sending[], right: (one: Sending) => boolean) =>
      sendings.filter((one) => !right(one))

    test('allowed traffic is seen: one connection for each message, to the intended address', () => {
      for (const one of run.allowed) {
        expect(one).toMatchObject({ delivered: true, connections: 1, reached: ['10.9.9.9'] })
        expect(one.packets - one.lookUpPackets).toBeGreaterThan(3)
      }
    })

    test('no packet is sent to any of more than 100 forms of a forbidden address, as callback or as upload', () => {
      expect(forms).toBeGreaterThan(100)
      expect(run.written).toHaveLength(2 * forms)
      for (const one of run.written) {
        // The guard resolves localhost by the hosts file: no packet for that either.
        expect(one).toMatchObject({ ...nothing, message: expect.stringContaining('the destination is refused') })
      }
    })

    test('no packet is sent to the store, whatever form its address has', () => {
      expect(run.own).toHaveLength(7)
      for (const one of run.own) {
        expect(one, one.to).toMatchObject({ delivered: false, connections: 0, reached: [] })
        expect(one.message).toContain('the store is never a destination')
        expect(one.packets).toBe(one.lookUpPackets)
      }
    })

    test('a redirect to any of them is not followed', () => {
      expect(run.redirected).toHaveLength(forms)
      const right = (one: Sending) =>
        !one.delivered && /^30\d .*redirects are not followed/.test(one.message) && one.connections === 1
      expect(wrong(run.redirected, right)).toEqual([])
      for (const { reached } of run.redirected) expect(reached).toEqual(['10.9.9.9'])
    })

    test('a name with a forbidden address, with or without an allowed one, causes only its look-up', () => {
      expect(run.named.length).toBeGreaterThan(200)
      for (const one of run.named) {
        expect(one, one.to).toMatchObject({ delivered: false, connections: 0, reached: [] })
        expect(one.message).toContain('the destination is refused')
        expect(one.lookUpPackets).toBeGreaterThan(0)
        expect(one.packets).toBe(one.lookUpPackets)
      }
    })

    test('a name whose address changes to a forbidden one is contacted at the checked address, and then no more', () => {
      expect(run.rebound.length).toBeGreaterThan(100)
      for (const [first, second] of run.rebound) {
        expect(first, first.to).toMatchObject({
          delivered: true,
          connections: 1,
          reached: ['10.9.9.9'],
          lookUpPackets: 4,
        })
        expect(second, second.to).toMatchObject({ delivered: false, connections: 0, reached: [], lookUpPackets: 4 })
        expect(second.packets).toBe(4)
      }
    })
  },
)

test.skipIf(typeof network === 'string')(
  '200 names whose look-up hangs hold up no receiver, whether its name is in the hosts file, in the DNS, or an address',
  async () => {
    const run = await runInOwnNetwork<HangingNamesRun>(network as readonly string[], 'hanging-names-run')
    const delivered = '200 OK'
    expect(run.outcomes).toEqual({
      localhost: delivered,
      'receiver.hosts.test': delivered,
      'healthy.test': delivered,
      '10.9.9.9': delivered,
    })
    expect(run.endedBefore).toBe(0)
    expect(run.fileRead).toBe(true)
  },
)
