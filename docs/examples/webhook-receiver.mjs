/**
 * A receiver of pushes (mode notify) and of slice callbacks, by Standard Webhooks 1.0. Node.js 20, no packages:
 *
 *     SECRET=whsec_... PORT=9000 node webhook-receiver.mjs
 *
 * Give the target the address http://THIS-HOST:9000/ and the same secret. A gateway sends to loopback and private addresses only where CALLBACK_ALLOW names them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { env } from 'node:process'

const { SECRET = '', PORT = '9000', HOST = '127.0.0.1' } = env
if (SECRET === '') throw new Error('SECRET is not set')
/** As in the reference library: base64, with or without whsec_. The key of any other text is its bytes. */
const encoded = SECRET.replace(/^whsec_/, '')
const key = /^(?=.{4})[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(SECRET)

/** Limit: bytes of an event in mode notify. */
const MAX_BODY = 1024 * 1024
/** An older request may have been recorded and sent again by somebody else. */
const TOLERANCE_SECONDS = 300
/** Retries of one delivery have the same id. A receiver that must not forget over a restart keeps these in its database. */
const taken = new Set()

/** @type {[number, string]} */
const broken = [400, 'the body broke off']

const server = createServer(async (req, res) => {
  const [status, message] = await receive(req).catch(() => broken)
  res
    .writeHead(status, { 'content-type': 'text/plain', connection: status < 300 ? 'keep-alive' : 'close' })
    .end(message)
})
server.listen(Number(PORT), HOST, () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on ${HOST}:${port}`)
})

/** @returns {Promise<[number, string]>} */
async function receive(req) {
  if (req.method !== 'POST') return [405, 'POST events here']
  const chunks = []
  let size = 0
  for await (const chunk of req) {
    size += chunk.length
    if (size > MAX_BODY) return [413, 'too large']
    chunks.push(chunk)
  }
  // The signature covers the bytes as they came: parse them only after it was found right.
  const body = Buffer.concat(chunks)
  const id = req.headers['webhook-id'] ?? ''
  const timestamp = req.headers['webhook-timestamp'] ?? ''
  if (!isSigned(id, timestamp, req.headers['webhook-signature'] ?? '', body)) return [401, 'the signature is not right']
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS))
    return [401, 'the timestamp is too old or too new']
  if (!taken.has(id)) {
    handle(JSON.parse(body.toString()))
    taken.add(id)
  }
  // Any 2xx says that it was received; anything else is tried again.
  return [200, 'received']
}

/** `signature` may hold several, with blanks between, while a secret is exchanged. */
function isSigned(id, timestamp, signature, body) {
  const right = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signature.split(' ').some((one) => {
    if (!one.startsWith('v1,')) return false
    const given = Buffer.from(one.slice(3), 'base64')
    return given.length === right.length && timingSafeEqual(given, right)
  })
}

/** Your own handling of an event. Long work must not delay the answer: one that takes longer than 10 s is a failure. */
function handle(event) {
  console.log(JSON.stringify(event))
}
