#!/usr/bin/env node
// A target of kind `purge` for nginx, which cannot purge by tag itself: removes the cached files of tiles that carry one of the tags.
// nginx treats a removed file as not cached. Runs on the host of the cache, as the user of nginx, under Node 20 or newer:
//
//   PURGE_DIR=/var/cache/nginx/tiles PURGE_LISTEN=10.0.0.5:8912 PURGE_SECRET=... node purge.mjs
//
// PURGE_SECRET is the secret of the target. Each purge reads the head of every file: some seconds for a hundred thousand.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { open, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { env } from 'node:process'

const { PURGE_DIR, PURGE_LISTEN = '127.0.0.1:8912', PURGE_SECRET } = env
if (!PURGE_DIR || !PURGE_SECRET) {
  console.error('PURGE_DIR and PURGE_SECRET must be set')
  process.exit(2)
}
/** Standard Webhooks: base64 with or without `whsec_`. The key of any other text is its bytes. */
const ENCODED = PURGE_SECRET.replace(/^whsec_/, '')
const KEY = /^(?=.{4})[A-Za-z0-9+/]+={0,2}$/.test(ENCODED) ? Buffer.from(ENCODED, 'base64') : Buffer.from(PURGE_SECRET)
/** Limits: bytes of a message, clock skew in seconds, and bytes that contain the head of a cached response. */
const MAX_BODY = 65_536
const MAX_AGE_S = 300
const HEAD = 8_192
const AT_ONCE = 16

createServer(async (req, res) => {
  const answer = (status, body) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  try {
    let body = ''
    for await (const part of req.setEncoding('utf8')) {
      body += part
      if (body.length > MAX_BODY) return answer(413, { error: 'too large' })
    }
    if (!isSigned(req.headers, body)) return answer(401, { error: 'the signature is not that of this target' })
    const { tags = [] } = JSON.parse(body)
    answer(200, { removed: await purge(new Set(tags)) })
  } catch (error) {
    answer(500, { error: error.message })
  }
}).listen(Number(PURGE_LISTEN.split(':').at(-1)), PURGE_LISTEN.slice(0, PURGE_LISTEN.lastIndexOf(':')), () =>
  console.log(`purges ${PURGE_DIR}`),
)

function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_AGE_S)) return false
  const right = Buffer.from(`v1,${createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
  return String(given)
    .split(' ')
    .some((one) => one.length === right.length && timingSafeEqual(Buffer.from(one), right))
}

/** Returns the number of removed files. */
async function purge(tags) {
  const files = (await readdir(PURGE_DIR, { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
  let removed = 0
  const work = async () => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) {
      const name = path.join(file.parentPath ?? file.path, file.name)
      if (!(await hasTag(name, tags))) continue
      await rm(name, { force: true })
      removed++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return removed
}

/** Checks the tags in the header that the gateway sent. */
async function hasTag(name, tags) {
  let handle
  try {
    handle = await open(name)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0)
    const [, line = ''] = /\r\nCache-Tag: ([^\r]*)/i.exec(buffer.toString('latin1', 0, bytesRead)) ?? []
    return line.split(',').some((tag) => tags.has(tag))
  } catch {
    return false // nginx has removed it
  } finally {
    await handle?.close()
  }
}
