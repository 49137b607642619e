import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { guardWith } from '@gateway/core/outgoing/testing/guards.js'
import { sendMessage } from '../http/send.js'
import { startNameServer } from './name-server.js'

// Run by `runInOwnNetwork`: 200 messages to names whose name server is silent, then some to receivers with known names.

export interface HangingNamesRun {
  /** number of messages to hanging names that had ended before the last of the others */
  readonly endedBefore: number
  readonly outcomes: Readonly<Record<string, string>>
  /** milliseconds for each message to a healthy receiver */
  readonly took: Readonly<Record<string, number>>
  /** true if a file was read meanwhile */
  readonly fileRead: boolean
}

const HANGING = 200
const PORT = 18_080

const nameServer = await startNameServer((name) => (name.startsWith('hang') ? null : ['10.9.9.9']))
const receiver = createServer((request, response) => request.resume().on('end', () => response.end('thanks')))
await new Promise<void>((resolve) => receiver.listen(PORT, '::', resolve))

const guard = guardWith()
const stop = new AbortController()
const send = (host: string) =>
  sendMessage(
    guard,
    { url: `http://${host}:${PORT}/`, secret: null, webhookId: 'msg_1', now: Date.now(), event: {} },
    stop.signal,
  )

let ended = 0
for (let i = 0; i < HANGING; i++) void send(`hang${i}.test`).then(() => ended++)
// Waits until every name was asked for, so that each look-up is in progress; if that fails, the assertions show it.
const asked = performance.now() + 5000
while (nameServer.questions < HANGING && performance.now() < asked)
  await new Promise((resolve) => setTimeout(resolve, 10))

const outcomes: Record<string, string> = {}
const took: Record<string, number> = {}
for (const host of ['localhost', 'receiver.hosts.test', 'healthy.test', '10.9.9.9']) {
  const startedAt = performance.now()
  outcomes[host] = (await send(host)).message
  took[host] = Math.round(performance.now() - startedAt)
}
const fileRead = (await readFile('/etc/hosts', 'utf8')).includes('localhost')
const run: HangingNamesRun = { endedBefore: ended, outcomes, took, fileRead }
process.stdout.write(JSON.stringify(run), () => process.exit())
