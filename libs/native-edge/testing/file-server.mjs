// A file server that uses the sender, for the tests and the correctness runs. It runs in its own process, because it is measured from outside
// (descriptors, memory) and must survive signals and changed files.
//
//   node file-server.mjs '{"root": DIR, "tiers": ["native"], "stallSeconds": 60, "idleSeconds": 75, "port": 0}'
//
// prints {"port", "tier", "reason", "warnings"} when it is ready. With "attachLate" it prints that as soon as it listens, and again when SIGHUP has
// made it attach.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileSender } from '../dist/transfer/file-sender.js'
import { endHead } from '../dist/transfer/head-answer.js'
import { findServerBinary } from '../dist/uws/server-binary.js'
import { App, us_listen_socket_close, us_socket_local_port } from '../dist/uws/uws.js'

const {
  root,
  tiers,
  stallSeconds,
  idleSeconds = 75,
  port = 0,
  attachLate = false,
  native = tiers?.includes('native') ? 'any' : 'off',
  unknownBinary = false,
} = JSON.parse(process.argv[2] ?? '{}')
const say = (level) => (fields, message) => process.stderr.write(`${JSON.stringify({ level, message, ...fields })}\n`)
const log = { info: say('info'), warn: say('warn'), error: say('error') }
const warnings = []
const warn = (fields, message) => {
  warnings.push(message)
  log.warn(fields, message)
}
const findBinary = unknownBinary ? () => ({ .../** @type {any} */ (findServerBinary()), proven: false }) : undefined
const sender = new FileSender({ log: { ...log, warn }, stallSeconds, idleSeconds, native, findBinary })

const text = (res, status, body) => {
  res.writeStatus(status)
  res.end(body)
}

const openFile = (name) => {
  try {
    const fd = openSync(join(root, name), 'r')
    return { fd, size: fstatSync(fd).size }
  } catch {
    return undefined
  }
}

/** First and last byte of "bytes=a-b", "bytes=a-" or "bytes=-n"; undefined if the range cannot be satisfied. */
const readRange = (range, size) => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  const from = first ? Number(first) : Math.max(0, size - Number(last))
  const to = first && last ? Math.min(Number(last), size - 1) : size - 1
  return from <= to && from < size ? { from, to } : undefined
}

const answer = (res, request, onDone = () => {}) => {
  const { name, method, range, ifNoneMatch } = request
  const file = openFile(name)
  if (!file) return text(res, '404 Not Found', '{"error":"Not found."}')
  const etag = `"${name}-${file.size}"`
  const part = range ? readRange(range, file.size) : { from: 0, to: file.size - 1 }
  if (ifNoneMatch === etag || !part) {
    closeSync(file.fd)
    if (!part) return text(res, '416 Range Not Satisfiable', '')
    res.writeStatus('304 Not Modified')
    res.writeHeader('ETag', etag)
    return res.endWithoutBody()
  }
  const length = part.to - part.from + 1
  res.writeStatus(range ? '206 Partial Content' : '200 OK')
  res.writeHeader('ETag', etag)
  if (range) res.writeHeader('Content-Range', `bytes ${part.from}-${part.to}/${file.size}`)
  if (method === 'HEAD') {
    closeSync(file.fd)
    return endHead(res, length)
  }
  sender.send(res, file.fd, part.from, length, {
    onDone() {
      closeSync(file.fd)
      onDone()
    },
  })
}

const requestOf = (req, method = 'GET') => ({
  name: req.getUrl().split('/').slice(2).join('/'),
  method,
  range: req.getHeader('range'),
  ifNoneMatch: req.getHeader('if-none-match'),
})

const app = App()
sender.selfTestRoute(app)
app.get('/f/*', (res, req) => answer(res, requestOf(req)))
app.head('/f/*', (res, req) => answer(res, requestOf(req, 'HEAD')))
// Answers asynchronously, like a handler that first looks something up.
app.get('/later/*', (res, req) => {
  const request = requestOf(req)
  let gone = false
  res.onAborted(() => {
    gone = true
  })
  setTimeout(() => gone || res.cork(() => answer(res, request)), 5)
})
app.get('/uncorked/*', (res, req) => {
  const request = requestOf(req)
  res.onAborted(() => {})
  setTimeout(() => answer(res, request), 5)
})
app.get('/throws/*', (res, req) =>
  answer(res, requestOf(req), () => {
    throw new Error('thrown by onDone')
  }),
)
app.post('/echo', (res) => {
  const hash = createHash('sha256')
  let bytes = 0
  res.onAborted(() => {})
  res.onData((chunk, isLast) => {
    bytes += chunk.byteLength
    hash.update(new Uint8Array(chunk))
    if (isLast) res.cork(() => text(res, '200 OK', `${bytes} ${hash.digest('hex')}`))
  })
})
// Calls methods of the response table from outside. The request body is a JSON list of calls, each [method, ...arguments]; the body of a tile is text
// or the name of a file.
let table
function putTile({ file, ...tile }) {
  if (file === undefined) return table.putTile({ ...tile, body: Buffer.from(tile.body) })
  const fd = openSync(join(root, file), 'r')
  table.putTile({ ...tile, body: { fd, offset: 0, length: fstatSync(fd).size } })
  closeSync(fd) // the table has its own descriptor
}
app.post('/table', (res) => {
  const chunks = []
  res.onAborted(() => {})
  res.onData((chunk, isLast) => {
    chunks.push(Buffer.from(chunk.slice(0)))
    if (!isLast) return
    const results = JSON.parse(Buffer.concat(chunks).toString()).map(([method, ...args]) => {
      if (method === 'open') table = sender.responseTable(args[0])
      if (method === 'putTile') return putTile(args[0])
      return method === 'open' ? table !== undefined : table[method](...args)
    })
    res.cork(() => text(res, '200 OK', JSON.stringify(results)))
  })
})
// Requests that the table does not answer.
app.any('/tiles/*', (res) => {
  res.writeStatus('200 OK')
  res.writeHeader('X-Answered-By', 'javascript')
  res.end('from the handler')
})
// A response that is slower than the clients of many connections ask. Counts the maximum number of responses between two runs of the timers.
let sinceTimer = 0
let mostBetweenTimers = 0
app.get('/slow', (res) => {
  sinceTimer++
  mostBetweenTimers = Math.max(mostBetweenTimers, sinceTimer)
  for (const end = performance.now() + 0.1; performance.now() < end; );
  text(res, '200 OK', '')
})
setInterval(() => {
  sinceTimer = 0
}, 1).unref()
app.get('/stats', (res) => {
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
  const descriptors = readdirSync('/proc/self/fd').length
  text(
    res,
    '200 OK',
    JSON.stringify({ ...sender.stats(), mostBetweenTimers, descriptors, rss: process.memoryUsage.rss(), peak }),
  )
})
// Promises a length that the file does not have.
app.get('/overlong/*', (res, req) => {
  const file = openFile(requestOf(req).name)
  res.writeStatus('200 OK')
  sender.send(res, file.fd, 0, file.size + 1000, { onDone: () => closeSync(file.fd) })
})
app.any('/*', (res) => text(res, '404 Not Found', '{"error":"Not found."}'))

app.listen('127.0.0.1', port, async (token) => {
  const listening = us_socket_local_port(token)
  const ready = () =>
    process.stdout.write(`${JSON.stringify({ port: listening, tier: sender.tier, reason: sender.reason, warnings })}\n`)
  const attach = async () => {
    await sender.attach({ host: '127.0.0.1', port: listening })
    ready()
  }
  if (attachLate) {
    process.on('SIGHUP', attach)
    ready()
  } else await attach()
  process.on('SIGUSR2', () => us_listen_socket_close(token)) // drain: transfers in progress continue
  process.on('SIGTERM', () => app.close()) // closes every connection; the process ends by itself
})
