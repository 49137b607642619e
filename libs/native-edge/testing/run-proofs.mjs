// The proofs of src/transfer/testing in full, for every tier: some five minutes each, run manually before a release, after a change of the
// native code and with every new uWebSockets.js binary.
//
//   npx tsc -b libs/native-edge && node libs/native-edge/testing/run-proofs.mjs [native] [copy]
import * as proofs from '../dist/transfer/testing/proofs.js'
import { ServerProcess } from '../dist/transfer/testing/server-process.js'

const MEGABYTE = 1024 * 1024

async function check(tier, name, proof) {
  const from = performance.now()
  try {
    const result = await proof()
    const seconds = ((performance.now() - from) / 1000).toFixed(1)
    console.log(`${tier}: ${name}: right${result === undefined ? '' : ` (${result})`}, ${seconds} s`)
  } catch (error) {
    console.log(`${tier}: ${name}: WRONG: ${error.stack}`)
    process.exitCode = 1
  }
}

async function run(tier) {
  const hooked = tier === 'native'
  const server = await ServerProcess.start({ tiers: [tier] })
  const patient = await ServerProcess.start({ tiers: [tier] })
  const impatient = await ServerProcess.start({ tiers: [tier], stallSeconds: 10 })
  if (server.tier !== tier) throw new Error(`${tier} is not available: ${server.reason}`)
  const slow = check(tier, '20 readers at 1 KB/s for 300 s', () => proofs.slowReadersAreServed(patient, 20, 300))
  const steps = {
    'bodies hashed at concurrency 64': () => proofs.hashesAreRight(server, 64, 200),
    'ten requests in one write, 300 times': () => proofs.pipeliningIsOrdered(server, 300, hooked ? 3_000_000 : 60_000),
    'a head split at each byte': () => proofs.splitHeadsAreRead(server, !hooked),
    '1,000 aborted downloads': () => proofs.abortsLeakNothing(server, 1000),
    '100 files cut while sent': () => proofs.truncationCloses(server, 100),
    '100 files swapped while sent': () => proofs.swappedFilesStayWhole(server, 100),
    'lengths that a file does not have': () => proofs.overlongLengthsClose(server),
    'cold files': () => proofs.coldFilesArrive(server),
    'request bodies between transfers': () => proofs.requestBodiesPassThrough(server, false),
    ...(hooked ? { 'pipelined request bodies': () => proofs.requestBodiesPassThrough(server, true) } : {}),
    'request bodies in pieces': async () => {
      // Without hooks uWebSockets.js 20.0 refuses some request lines that are split.
      for (let piece = hooked ? 1 : 97; piece < 100; piece += 7) await proofs.splitBodiesPassThrough(server, piece)
    },
    '10,000 connections of garbage': () => proofs.garbageHarmsNobody(server, 10_000, Date.now() >>> 0),
    'callers that throw': () => proofs.callersMayBeWrong(server),
    '100 slow downloads of 200 MB': async () => {
      const grown = await proofs.slowDownloadsCostNoMemory(server, 100, 200_000_000)
      if (grown > 64 * MEGABYTE) throw new Error(`the server grew by ${grown} bytes`)
      return `${(grown / MEGABYTE).toFixed(1)} MB`
    },
    'a client that takes nothing': () => proofs.stalledClientsAreCut(impatient),
    'drain and close': () => proofs.drainsAndCloses(impatient),
  }
  for (const [name, proof] of Object.entries(steps)) await check(tier, name, proof)
  await slow
  for (const each of [server, patient, impatient]) await each.stop()
}

const asked = process.argv.slice(2)
for (const tier of asked.length > 0 ? asked : ['native', 'copy']) await run(tier)
