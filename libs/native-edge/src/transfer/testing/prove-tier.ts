import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TierName } from '../types.js'
import * as proofs from './proofs.js'
import { ServerProcess } from './server-process.js'

/** Proves a tier at the size that fits a test; testing/run-proofs.mjs runs the same proofs in full. */
export function proveTier(tier: TierName): void {
  const hooked = tier === 'native'

  describe(`the ${tier} tier`, () => {
    let server: ServerProcess
    let patient: ServerProcess
    let impatient: ServerProcess
    let slow: Promise<void>
    let stalled: Promise<void>
    beforeAll(async () => {
      server = await ServerProcess.start({ tiers: [tier] })
      // These two take the same time on any machine, so they run while the other tests run.
      patient = await ServerProcess.start({ tiers: [tier] })
      impatient = await ServerProcess.start({ tiers: [tier], stallSeconds: 3 })
      slow = proofs.slowReadersAreServed(patient, 3, 14)
      stalled = proofs.stalledClientsAreCut(impatient)
      for (const proof of [slow, stalled]) proof.catch(() => {})
    })
    afterAll(() => Promise.all([server.stop(), patient.stop(), impatient.stop()]))

    it('is in use', () => expect(server).toMatchObject({ tier }))

    it('sends every body completely to 64 clients at once', () => proofs.hashesAreRight(server, 64, 8))

    it('answers ten requests of all kinds in one write, in order', () =>
      proofs.pipeliningIsOrdered(server, 10, hooked ? 3_000_000 : 60_000))

    it('reads a head that is split at any byte', () => proofs.splitHeadsAreRead(server, !hooked))

    it('leaks nothing when clients disconnect in the middle', () => proofs.abortsLeakNothing(server, 200))

    it('closes the connection when a file is cut while it is sent', () => proofs.truncationCloses(server, 3))

    it('closes the connection if a file is shorter than promised', () => proofs.overlongLengthsClose(server))

    it('sends a file that is not in memory', () => proofs.coldFilesArrive(server))

    it('sends a replaced or deleted file as it was opened', () => proofs.swappedFilesStayWhole(server, 4))

    it('passes request bodies on unchanged between transfers', () => proofs.requestBodiesPassThrough(server, false))

    if (hooked) {
      it('passes pipelined request bodies on unchanged', () => proofs.requestBodiesPassThrough(server, true))
    }

    it('finds the end of request bodies that arrive in pieces', () => proofs.splitBodiesPassThrough(server, 97))

    it('survives garbage', () => proofs.garbageHarmsNobody(server, 150, 1))

    it('survives a caller that throws or forgets to cork', () => proofs.callersMayBeWrong(server))

    it('spends no memory on slow downloads', async () => {
      expect(await proofs.slowDownloadsCostNoMemory(server, 100, 200_000_000)).toBeLessThan(64 * 1024 * 1024)
    })

    it('cuts a client that reads nothing for the stall time', () => stalled)

    it('ends transfers when the listener and then the App is closed', () => proofs.drainsAndCloses(impatient))

    it('serves a client that reads a kilobyte per second', () => slow)
  })
}
