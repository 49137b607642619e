import { createServer, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { canonicalAddress } from '@gateway/core/outgoing/address-class.js'
import type { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { LOOPBACK, NEVER } from '@gateway/core/outgoing/testing/forbidden.js'
import { guardWith, OPEN_SERVICE } from '@gateway/core/outgoing/testing/guards.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import { deliver } from '../deliver.js'
import type { Bundle } from '../files/bundle.js'
import { sendUpload } from '../http/send.js'
import type { Outcome } from '../outcome.js'
import { startNameServer, type Zone } from './name-server.js'
import { type Sent, sent } from './sent-packets.js'

// Run by `runInOwnNetwork`: sends to every forbidden destination with the code for deliveries, and prints the kernel's counts for each.

/** One message. */
export interface Sending extends Sent {
  readonly to: string
  readonly delivered: boolean
  readonly message: string
  /** the part of `packets` for name look-ups: each question and its answer */
  readonly lookUpPackets: number
  /** addresses of this machine at which connections arrived */
  readonly reached: readonly string[]
}

export interface ForbiddenRun {
  /** a check that the counters work */
  readonly allowed: readonly Sending[]
  /** as callback and as upload: forms of a forbidden address, then forms of this machine's addresses */
  readonly written: readonly Sending[]
  readonly own: readonly Sending[]
  readonly redirected: readonly Sending[]
  /** names with only a forbidden address, or with a forbidden and an allowed one */
  readonly named: readonly Sending[]
  /** names whose first look-up returns an allowed address and later ones a forbidden address: first and second message */
  readonly rebound: readonly (readonly [Sending, Sending])[]
}

const ALLOWED = '10.9.9.9'
const STORE = '10.77.0.5'
const PORT = 18_080
const REDIRECTS = [301, 302, 303, 307, 308]

/** Settings and lists that allow as much as possible. */
const generous = guardWith({ callbackAllow: ['0.0.0.0/0', '::/0'], databaseUrl: `postgres://u:p@${STORE}:${PORT}/g` })
const open = guardWith(OPEN_SERVICE)
const FORMS = [...NEVER.map((host) => ({ host, guard: generous })), ...LOOPBACK.map((host) => ({ host, guard: open }))]

const forbiddenAddresses = FORMS.map(({ host, guard }) => ({ address: addressOf(host), guard })).filter(
  (one): one is { address: string; guard: DestinationGuard } => one.address !== null,
)

/** f0.test has the first forbidden address, m0.test also an allowed one, and r0.test an allowed one at first. */
const zone: Zone = (name, n) => {
  if (name === 'store.test') return [STORE]
  if (name === 'allowed.test') return [ALLOWED]
  const [, kind, index] = /^([fmr])(\d+)\.test$/.exec(name) ?? []
  const forbidden = forbiddenAddresses[Number(index)]?.address
  if (forbidden === undefined) return []
  if (kind === 'm') return [ALLOWED, forbidden]
  return kind === 'r' && n === 1 ? [ALLOWED] : [forbidden]
}

const reached: string[] = []
const receiver = createServer((request, response) => {
  request.resume().on('end', () => answer(request.url ?? '', response))
})
receiver.on('connection', (socket) => reached.push(socket.localAddress ?? ''))
await new Promise<void>((resolve) => receiver.listen(PORT, '::', resolve))
const nameServer = await startNameServer(zone)

function answer(url: string, response: ServerResponse): void {
  const form = FORMS[Number(/^\/to\/(\d+)$/.exec(url)?.[1] ?? -1)]
  if (form === undefined) return void response.end('thanks')
  const status = REDIRECTS[FORMS.indexOf(form) % REDIRECTS.length] as number
  // Header fields contain bytes: those of UTF-8.
  const location = Buffer.from(`http://${form.host}:${PORT}/`).toString('latin1')
  response.writeHead(status, { location }).end()
}

function addressOf(host: string): string | null {
  const plain = new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '')
  return isIP(plain) === 0 ? null : plain
}

type Way = (guard: DestinationGuard, url: string) => Promise<Outcome>

const payloadOf = async () => ({ ok: true, event: {}, bundle: null }) as const
const noStore = () => {
  throw new Error('no delivery of this run goes to a bucket')
}
const patient = new AbortController().signal
const asCallback: Way = (guard, url) =>
  deliver(
    { guard, now: Date.now, payloadOf, openStore: noStore, scratch: '/', mail: { url: null, from: null } },
    { ...CALLBACK, url },
    patient,
  )
const asUpload: Way = (guard, url) =>
  sendUpload(guard, { url, secret: 'a secret', webhookId: 'msg_1', now: Date.now(), event: {} }, NO_FILES, patient)

const CALLBACK: ClaimedDelivery = {
  id: '00000000-0000-4000-8000-000000000001',
  kind: 'slice_callback',
  lane: 'message',
  status: 'pending',
  attempts: 0,
  message: '',
  messageCoded: null,
  fence: 1,
  destination: '',
  body: {},
  trace: null,
  url: null,
  version: null,
  targetCode: null,
  basemapCode: null,
  vectorCode: null,
  exportId: null,
  jobId: '00000000-0000-4000-8000-000000000002',
  createdAt: new Date(0),
  target: null,
}

const NO_FILES: Bundle = {
  root: '/',
  kind: 'files',
  place: 'x',
  code: 'x',
  compressible: false,
  files: async function* () {},
}

async function send(way: Way, guard: DestinationGuard, host: string, path = ''): Promise<Sending> {
  const to = `http://${host}:${PORT}/${path}`
  reached.length = 0
  const { questions } = nameServer
  const before = sent()
  const { delivered, message } = await way(guard, to)
  // A packet is counted even if it was in vain, and a connection was seen once a later one has been.
  const after = sent()
  return {
    to,
    delivered,
    message,
    packets: after.packets - before.packets,
    connections: after.connections - before.connections,
    lookUpPackets: 2 * (nameServer.questions - questions),
    reached: reached.map((address) => canonicalAddress(address)?.address.toString() ?? address),
  }
}

async function inTurn<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const [index, item] of items.entries()) results.push(await work(item, index))
  return results
}

const ownForms = [STORE, '0xa4d0005', '10.77.5', '172818437', '[::ffff:10.77.0.5]', '[::ffff:a4d:5]', 'store.test']

const run: ForbiddenRun = {
  allowed: [
    await send(asCallback, open, ALLOWED),
    await send(asUpload, open, ALLOWED),
    await send(asCallback, open, 'allowed.test'),
    await send(asCallback, open, 'receiver.hosts.test'),
  ],
  written: [
    ...(await inTurn(FORMS, ({ host, guard }) => send(asCallback, guard, host))),
    ...(await inTurn(FORMS, ({ host, guard }) => send(asUpload, guard, host))),
  ],
  own: await inTurn(ownForms, (host) => send(asCallback, generous, host)),
  redirected: await inTurn(FORMS, ({ guard }, i) => send(asCallback, guard, ALLOWED, `to/${i}`)),
  named: [
    ...(await inTurn(forbiddenAddresses, ({ guard }, i) => send(asCallback, guard, `f${i}.test`))),
    ...(await inTurn(forbiddenAddresses, ({ guard }, i) => send(asUpload, guard, `m${i}.test`))),
  ],
  rebound: await inTurn(forbiddenAddresses, async ({ guard }, i) => [
    await send(asCallback, guard, `r${i}.test`),
    await send(asCallback, guard, `r${i}.test`),
  ]),
}
process.stdout.write(JSON.stringify(run), () => process.exit())
