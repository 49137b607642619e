import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ask, askUntilTable, running, usePublishingEdge, warm, withToken, write } from '../testing/publishing-edge.js'

/** The limit on a processor on which copying costs most. */
const COPY_BELOW = 8 * 1024

usePublishingEdge({ copyBelow: COPY_BELOW })

test.each([COPY_BELOW - 1, COPY_BELOW, 20_000, 64 * 1024])(
  'the table sends a tile of %d bytes with the header lines and bytes of JavaScript',
  async (size) => {
    const name = `v1/3/0/${size % 8}.png`
    const body = randomBytes(size)
    write(name, body)
    const memory = running.edge.native.bytes
    const answers = await askUntilTable(`/tiles/alps/${name}`)
    for (const answer of answers) {
      expect(answer.raw.toSorted(), answer.by).toEqual(answers[0]?.raw.toSorted())
      expect(answer.body.equals(body), answer.by).toBe(true)
    }
    const isInMemory = running.edge.native.bytes - memory > size
    expect(isInMemory).toBe(size < COPY_BELOW)
  },
)

test('a file that is written to in place is sent under its new tag a second later', async () => {
  const target = '/tiles/alps/v1/4/0/0.png'
  const file = write('v1/4/0/0.png', randomBytes(30_000))
  const [before] = await askUntilTable(target)
  const body = randomBytes(30_000)
  fs.writeFileSync(file, body)
  await sleep(1_100)
  const after = await ask(target, withToken())
  expect(after.by).not.toBe('table')
  expect(after.body.equals(body)).toBe(true)
  expect(after.headers.etag).not.toBe(before?.headers.etag)
})

test('a file that is cut ends the connection, and is then sent in its new state', async () => {
  const target = '/tiles/alps/v1/4/0/1.png'
  const file = write('v1/4/0/1.png', randomBytes(30_000))
  await warm(target)
  fs.truncateSync(file, 9_000)
  const headers = { 'x-access-token': running.token }
  await expect(fetch(running.url + target, { headers }).then((answer) => answer.arrayBuffer())).rejects.toThrow()
  expect((await ask(target, withToken())).body.length).toBe(9_000)
})

test('pipelined requests for tiles by reference and from memory are answered in order', async () => {
  const bodies = [randomBytes(40_000), randomBytes(5_000), randomBytes(60_000)]
  const targets = bodies.map((body, i) => {
    write(`v1/5/0/${i}.png`, body)
    return `/tiles/alps/v1/5/0/${i}.png`
  })
  for (const target of targets) await warm(target)
  const asked = Array.from({ length: 60 }, (_, i) => i % 3)
  const request = (i: number) => `GET ${targets[i]} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${running.token}\r\n`
  const all = asked.map((i, at) => `${request(i)}${at === 59 ? 'Connection: close\r\n' : ''}\r\n`).join('')
  const received = await exchange(all)
  let at = 0
  for (const i of asked) {
    const start = received.indexOf('\r\n\r\n', at) + 4
    const body = bodies[i] as Buffer
    expect(received.subarray(start, start + body.length).equals(body)).toBe(true)
    at = start + body.length
  }
  expect(at).toBe(received.length)
})

async function exchange(text: string): Promise<Buffer> {
  const socket = net.connect(Number(new URL(running.url).port), '127.0.0.1')
  socket.write(text)
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
