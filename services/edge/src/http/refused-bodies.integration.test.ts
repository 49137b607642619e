import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { answerUpstream, running, useServingEdge } from '../testing/serving-edge.js'

useServingEdge()

const PIECE = Buffer.alloc(64 * 1024, ' ')

/** Sends a request like a client that reads nothing before it has sent its whole body, then the next request. Returns both status lines. */
async function sendWhole(
  bytes: number,
  afterPiece: (sent: number) => Promise<void> = async () => {},
): Promise<string[]> {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const failed = new Promise<never>((_, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed the connection')))
  })
  const received: Buffer[] = []
  socket.on('data', (part: Buffer) => void received.push(part))
  const lines = () =>
    Buffer.concat(received)
      .toString('latin1')
      .match(/HTTP\/1\.1 \d+/g) ?? []
  socket.write(`POST /api/v1/admin/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${bytes}\r\n\r\n`)
  const whole = async () => {
    for (let sent = 0; sent < bytes; sent += PIECE.length) {
      await written(socket, PIECE.subarray(0, bytes - sent))
      await afterPiece(sent)
    }
    socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    while (lines().length < 2) await once(socket, 'data')
    return lines()
  }
  return await Promise.race([whole(), failed])
}

async function written(socket: Socket, piece: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => socket.write(piece, (error) => (error ? reject(error) : resolve())))
}

test('a client that sends its whole body before it reads gets 413, and the connection stays open', async () => {
  for (const bytes of [1024 * 1024 + 1, 6_000_000])
    expect(await sendWhole(bytes)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
})

test('a client whose body is refused before it is complete gets the refusal after it has sent the rest', async () => {
  let asked = () => {}
  const question = new Promise<void>((resolve) => (asked = resolve))
  answerUpstream((_, res) => {
    res.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"no credentials"}')
    asked()
  })
  const answers = await sendWhole(900_000, async (sent) => {
    if (sent === PIECE.length) await question
  })
  expect(answers).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
})
