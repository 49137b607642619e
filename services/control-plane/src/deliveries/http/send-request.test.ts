import type { Socket } from 'node:net'
import { guardWith } from '@gateway/core/outgoing/testing/guards.js'
import { afterEach, describe, expect, test } from 'vitest'
import { startReceiver, startTcpReceiver } from '../testing/receiver.js'
import type { Deadlines } from './deadlines.js'
import { sendRequest } from './send-request.js'

const SHORT: Deadlines = { idleMs: 400, totalMs: 400 }
/** Deadlines long enough for the status to arrive. */
const UNTIL_STATUS: Deadlines = { idleMs: 3_000, totalMs: 3_000 }
const LONG: Deadlines = { idleMs: 10_000, totalMs: 10_000 }
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function send(url: string, deadlines: Deadlines, body: string | AsyncIterable<Uint8Array> = '{}') {
  const request = { url, headers: { 'content-type': 'application/json' }, body, deadlines, secrets: ['s3cret'] }
  return sendRequest(guardWith(), request, new AbortController().signal)
}

async function sendTo(onConnection: (socket: Socket) => void, deadlines: Deadlines = LONG) {
  const receiver = await startTcpReceiver(onConnection)
  closing.push(receiver.close)
  return send(receiver.url, deadlines)
}

test('a 2xx response means success, and its first part is kept without secrets and control characters', async () => {
  const receiver = await startReceiver((response) => response.writeHead(202).end('thanks\0 for s3cret\n'))
  closing.push(receiver.close)
  expect(await send(`${receiver.url}?a=1`, LONG, '{"a":1}')).toEqual({
    delivered: true,
    httpStatus: 202,
    said: { code: 'delivery_answered', params: { status: '202 Accepted' } },
    retryAfter: null,
    message: '202 Accepted',
    answer: 'thanks\ufffd for [redacted]\n',
    request: {
      method: 'POST',
      url: `${receiver.url}?a=1`,
      headers: { 'user-agent': 'map-asset-gateway', 'content-type': 'application/json' },
      body: '{"a":1}',
    },
  })
  expect(receiver.received).toMatchObject([{ path: '/hook?a=1', body: '{"a":1}' }])
})

test('any other response is a failure, with its Retry-After', async () => {
  const receiver = await startReceiver((response) => response.writeHead(503, { 'retry-after': '7' }).end('busy'))
  closing.push(receiver.close)
  expect(await send(receiver.url, LONG)).toMatchObject({
    delivered: false,
    httpStatus: 503,
    retryAfter: '7',
    answer: 'busy',
  })
})

test('a redirect is a failure, and is not followed', async () => {
  const elsewhere = await startReceiver()
  const receiver = await startReceiver((response) => response.writeHead(307, { location: elsewhere.url }).end())
  closing.push(receiver.close, elsewhere.close)
  const outcome = await send(receiver.url, LONG)
  expect(outcome).toMatchObject({ delivered: false, httpStatus: 307 })
  expect(outcome.message).toContain('not followed')
  expect(elsewhere.received).toEqual([])
})

test('a name whose look-up hangs is given up at the deadline, with a specific message', async () => {
  const guard = guardWith({}, () => new Promise(() => {}))
  const request = { url: 'http://hanging.example/', headers: {}, body: '{}', deadlines: SHORT, secrets: [] }
  expect(await sendRequest(guard, request, new AbortController().signal)).toMatchObject({
    delivered: false,
    message: 'no answer in 0.4 s: the host name was not resolved',
  })
})

test('a name whose address changes is resolved once, and the checked address is the one that is dialled', async () => {
  const receiver = await startReceiver()
  closing.push(receiver.close)
  const answers = ['127.0.0.1', '127.0.0.2', '169.254.169.254']
  const asked: string[] = []
  const guard = guardWith({}, async (host) => {
    asked.push(host)
    return [{ address: answers[asked.length - 1] as string, family: 4 }]
  })
  const url = `http://changing.example:${receiver.port}/hook`
  const request = { url, headers: {}, body: '{}', deadlines: LONG, secrets: [] }
  expect(await sendRequest(guard, request, new AbortController().signal)).toMatchObject({ delivered: true })
  expect(asked).toEqual(['changing.example'])
  expect(receiver.received[0]?.headers.host).toBe(`changing.example:${receiver.port}`)
  expect(await sendRequest(guard, request, new AbortController().signal)).toMatchObject({ delivered: false })
  expect(await sendRequest(guard, request, new AbortController().signal)).toMatchObject({
    message: expect.stringContaining('never a destination'),
  })
  expect(receiver.received.length).toBe(1)
})

describe('a receiver that misbehaves costs one failed attempt:', () => {
  const request = (then: (socket: Socket) => void) => (socket: Socket) => void socket.once('data', () => then(socket))
  const drip = (text: string) => (socket: Socket) => {
    socket.write(text)
    const timer = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(timer))
  }

  test.each([
    ['it never answers', () => {}, /no answer in 0.4 s/],
    ['it drips headers', request(drip('HTTP/1.1 200 OK\r\nx: ')), /no answer in 0.4 s/],
    [
      'it promises an answer for ever',
      request((socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20)
        socket.on('close', () => clearInterval(timer))
      }),
      /no answer in 0.4 s/,
    ],
  ])('%s', async (_name, behave, message) => {
    expect(await sendTo(behave, SHORT)).toMatchObject({
      delivered: false,
      httpStatus: null,
      message: expect.stringMatching(message),
    })
  })

  test.each([
    ['it closes at once', (socket: Socket) => socket.destroy(), /closed|reset/],
    ['it resets', request((socket) => socket.resetAndDestroy()), /closed|reset/],
    ['it closes in the middle of the head', request((socket) => socket.end('HTTP/1.1 200 O')), /closed|not HTTP/],
    ['it answers garbage', request((socket) => socket.end('\0\x01\x02 not http\r\n\r\n')), /not HTTP/],
    ['it speaks before it is asked', (socket: Socket) => socket.end('SSH-2.0-OpenSSH\r\n'), /not HTTP|closed/],
    [
      'its headers never end',
      request((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        for (let i = 0; i < 2000; i++) socket.write(`x-${i}: ${'y'.repeat(100)}\r\n`)
      }),
      /headers of the response are too large/,
    ],
    ['it switches protocols', request((socket) => socket.write('HTTP/1.1 101 Hi\r\nupgrade: x\r\n\r\n')), /./],
  ])('%s', async (_name, behave, message) => {
    expect(await sendTo(behave)).toMatchObject({ delivered: false, message: expect.stringMatching(message) })
  })

  test('it does not speak TLS', async () => {
    const receiver = await startTcpReceiver(request((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
    closing.push(receiver.close)
    expect(await send(receiver.url.replace('http:', 'https:'), LONG)).toMatchObject({
      delivered: false,
      message: 'no TLS connection could be made: wrong version number',
    })
  })

  test('no listener', async () => {
    const receiver = await startTcpReceiver(() => {})
    await receiver.close()
    expect(await send(receiver.url, LONG)).toMatchObject({ delivered: false, message: 'the connection was refused' })
  })
})

describe('once the status has arrived it counts, whatever happens to the body:', () => {
  test('an endless response is read up to the limit', async () => {
    let sent = 0
    const outcome = await sendTo((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        const pour = () => {
          sent += 65_536
          socket.write('z'.repeat(65_536), () => !socket.destroyed && pour())
        }
        pour()
      })
    })
    expect(outcome).toMatchObject({ delivered: true, httpStatus: 200 })
    expect(outcome.answer.length).toBe(1000)
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('a slow body is read until the deadline', async () => {
    const outcome = await sendTo((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
        const timer = setInterval(() => socket.write('x'), 20)
        socket.on('close', () => clearInterval(timer))
      })
    }, UNTIL_STATUS)
    expect(outcome).toMatchObject({ delivered: true, httpStatus: 200, answer: expect.stringMatching(/^x+$/) })
  })

  test('a truncated body does not invalidate the status', async () => {
    const outcome = await sendTo(
      (socket) =>
        void socket.once('data', () => socket.end('HTTP/1.1 500 Oh\r\ncontent-length: 100\r\n\r\nbecause of')),
    )
    expect(outcome).toMatchObject({ delivered: false, httpStatus: 500, answer: 'because of' })
  })
})

describe('an upload', () => {
  async function* parts(n: number, onEnd: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (let i = 0; i < n; i++) yield Buffer.alloc(65_536)
    } finally {
      onEnd()
    }
  }

  test('to a receiver that reads nothing ends for lack of progress, and releases its source', async () => {
    const receiver = await startTcpReceiver((socket) => socket.pause())
    closing.push(receiver.close)
    let ended = false
    const body = parts(100_000, () => (ended = true))
    const outcome = await send(receiver.url, { idleMs: 300, totalMs: 60_000 }, body)
    expect(outcome).toMatchObject({ delivered: false, message: 'no progress in 0.3 s' })
    expect(ended).toBe(true)
  })

  test('that is refused before it was read ends with that response', async () => {
    const receiver = await startTcpReceiver((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 3\r\n\r\nbig')
      })
    })
    closing.push(receiver.close)
    let ended = false
    const outcome = await send(
      receiver.url,
      { idleMs: 2000, totalMs: 60_000 },
      parts(100_000, () => (ended = true)),
    )
    expect(outcome).toMatchObject({ delivered: false, httpStatus: 413, answer: 'big' })
    expect(ended).toBe(true)
  })

  test('whose source fails is a failure that names the reason', async () => {
    const receiver = await startReceiver()
    closing.push(receiver.close)
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a')
      throw new Error('the version changed')
    }
    expect(await send(receiver.url, LONG, broken())).toMatchObject({ delivered: false, message: 'the version changed' })
    expect(receiver.received).toEqual([])
  })

  test('that its owner aborts ends at once', async () => {
    const stop = new AbortController()
    const receiver = await startTcpReceiver(() => setImmediate(() => stop.abort()))
    closing.push(receiver.close)
    const request = { url: receiver.url, headers: {}, body: '{}', deadlines: LONG, secrets: [] }
    expect(await sendRequest(guardWith(), request, stop.signal)).toMatchObject({ delivered: false })
  })
})
