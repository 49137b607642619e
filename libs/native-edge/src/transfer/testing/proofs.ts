/**
 * The properties that every tier must have, as functions: the tests run them small, testing/run-proofs.mjs runs them large. Each throws
 * if the property does not hold.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { RawResponse } from '../../uws/raw-client.js'
import { request, type ServerProcess, sha256, type TestFile } from './server-process.js'

/** Sizes of bodies that the tiers treat differently, and their boundaries. */
const SIZES = [1, 15_000, 65_535, 65_536, 65_537, 131_072, 1_048_576, 3_000_001]

function assertIs(response: RawResponse, file: TestFile, from = 0, to = file.content.length): void {
  assert.equal(response.status, to - from === file.content.length ? 200 : 206)
  assert.equal(response.bytes, to - from)
  assert.equal(response.sha256, sha256(file.content.subarray(from, to)))
}

/** All responses arrive complete and in order, for many concurrent clients. */
export async function hashesAreRight(server: ServerProcess, connections: number, rounds: number): Promise<void> {
  const files = SIZES.map((size) => server.file(`size-${size}`, size))
  const run = async (seed: number) => {
    const client = await server.connect()
    for (let i = 0; i < rounds; i++) {
      const file = files[(seed * 7 + i * 3) % files.length] as TestFile
      const path = (seed + i) % 4 === 0 ? 'later' : 'f'
      client.write(request(`/${path}/${file.name}`))
      assertIs(await client.response(), file)
    }
    client.close()
  }
  await Promise.all(Array.from({ length: connections }, (_, i) => run(i)))
}

/** Ten requests of all kinds in one write are answered in order. Large bodies among them need hooks. */
export async function pipeliningIsOrdered(server: ServerProcess, rounds: number, largest: number): Promise<void> {
  const a = server.file('pipe-a', 50_000)
  const b = server.file('pipe-b', largest)
  const etag = `"${a.name}-${a.content.length}"`
  for (let round = 0; round < rounds; round++) {
    const client = await server.connect()
    client.write(
      request('/f/pipe-a') +
        request('/f/pipe-a', `If-None-Match: ${etag}\r\n`) +
        request('/f/missing') +
        request('/f/pipe-b') +
        request('/f/pipe-b', '', 'HEAD') +
        request('/f/pipe-b', 'Range: bytes=100-199\r\n') +
        request('/f/pipe-a', 'Range: bytes=-7\r\n') +
        request('/f/pipe-b', 'Range: bytes=99999999-\r\n') +
        request('/f/pipe-b', 'Range: bytes=1-\r\n') +
        request('/f/pipe-a'),
    )
    assertIs(await client.response(), a)
    assert.equal((await client.response()).status, 304)
    assert.equal((await client.response()).status, 404)
    assertIs(await client.response(), b)
    assert.equal((await client.response(false)).headers.get('content-length'), String(largest))
    assertIs(await client.response(), b, 100, 200)
    assertIs(await client.response(), a, a.content.length - 7)
    assert.equal((await client.response()).status, 416)
    assertIs(await client.response(), b, 1)
    assertIs(await client.response(), a)
    client.close()
  }
}

/**
 * Two requests, split over two packets at each byte, are read. Without hooks uWebSockets.js 20.0 returns 505 for some split request
 * lines and closes the connection: `mayRefuse` allows only that.
 */
export async function splitHeadsAreRead(server: ServerProcess, mayRefuse: boolean): Promise<void> {
  const file = server.file('split', 20_000)
  const one = request('/f/split', 'X-Padding: abcdefgh\r\n')
  for (let at = 1; at < one.length; at++) {
    const client = await server.connect()
    client.write(one.slice(0, at))
    await nextTurn()
    await wait(1)
    client.write(one.slice(at) + one.slice(0, at))
    await wait(1)
    client.write(one.slice(at))
    const inLine = at < one.indexOf('\r\n') + 2
    try {
      for (let i = 0; i < 2; i++) {
        const response = await client.response()
        if (mayRefuse && inLine && response.status === 505) break
        assertIs(response, file)
      }
    } catch (error) {
      if (!mayRefuse || !inLine || (error as { code?: string }).code === 'ERR_ASSERTION') throw error
    }
    client.close()
  }
}

/** Clients that disconnect in the middle of a body leak no resources. */
export async function abortsLeakNothing(server: ServerProcess, count: number): Promise<void> {
  const big = server.file('abort', 20_000_000)
  const before = await server.until((stats) => stats.active === 0)
  const run = async (i: number) => {
    const client = await server.connect()
    client.write(request(`/${i % 3 === 0 ? 'later' : 'f'}/${big.name}`))
    if (i % 2) await once(client.socket, 'data')
    if (i % 5 === 0) client.socket.resetAndDestroy()
    else client.close()
  }
  for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => run(i + k)))
  const after = await server.until((stats) => stats.active === 0 && stats.descriptors <= before.descriptors)
  assert.equal(after.transfers, after.sent + after.aborted + after.truncated + after.stalled)
  assert.equal(after.truncated + after.stalled, before.truncated + before.stalled)
}

/** A client that reads a kilobyte per second for `seconds` seconds, and then the rest, receives every byte. */
export async function slowReadersAreServed(server: ServerProcess, clients: number, seconds: number): Promise<void> {
  const file = server.file('slow', 12_000_000)
  const read = () =>
    new Promise<Buffer>((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      const until = performance.now() + seconds * 1000
      // `onread` reads into a buffer of this size and no further, so that the kernel's window is what the client really asks for.
      const socket = connect({
        port: server.port,
        host: '127.0.0.1',
        onread: {
          buffer: Buffer.alloc(1024),
          callback: (bytes, buffer) => {
            chunks.push(Buffer.from(buffer.subarray(0, bytes)))
            size += bytes
            if (size > file.content.length) socket.destroySoon()
            if (performance.now() >= until) return true
            setTimeout(() => socket.resume(), 1000)
            return false
          },
        },
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(Buffer.concat(chunks)))
      socket.write(request('/f/slow', 'Connection: close\r\n'))
    })
  for (const received of await Promise.all(Array.from({ length: clients }, read))) {
    const body = received.subarray(received.indexOf('\r\n\r\n') + 4)
    assert.equal(body.length, file.content.length)
    assert.equal(sha256(body), file.sha256)
  }
}

/**
 * A file that is cut while it is sent closes the connection: the received bytes are a true prefix of the file, and shorter than
 * promised.
 */
export async function truncationCloses(server: ServerProcess, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const file = server.file('cut', 30_000_000)
    const client = await server.connect()
    client.socket.pause()
    client.write(request('/f/cut'))
    await server.until((stats) => stats.active === 1)
    const before = await server.stats()
    truncateSync(join(server.root, file.name), 1_000_000)
    client.socket.resume()
    await assert.rejects(client.response())
    await server.until((stats) => stats.active === 0 && stats.truncated === before.truncated + 1)
  }
}

/** A length that the file never had ends the same way. */
export async function overlongLengthsClose(server: ServerProcess): Promise<void> {
  for (const size of [100, 400_000]) {
    const file = server.file('short', size)
    const before = await server.stats()
    const client = await server.connect()
    client.write(request(`/overlong/${file.name}`))
    await assert.rejects(client.response())
    await server.until((stats) => stats.active === 0 && stats.truncated === before.truncated + 1)
  }
}

/** A file that must be read from the disk arrives, and a client may disconnect during the read. */
export async function coldFilesArrive(server: ServerProcess): Promise<void> {
  const file = server.file('cold', 10_000_000)
  for (const leave of [false, true]) {
    // GNU dd asks the kernel in this way to drop a file from its cache.
    execFileSync('dd', [`of=${join(server.root, file.name)}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'], {
      stdio: 'ignore',
    })
    const client = await server.connect()
    client.write(request(`/f/${file.name}`))
    if (leave) client.close()
    else assertIs(await client.response(), file)
    await server.until((stats) => stats.active === 0)
  }
}

/** A file replaced or deleted while it is sent arrives as it was when it was opened. */
export async function swappedFilesStayWhole(server: ServerProcess, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const file = server.file('swap', 20_000_000)
    const path = join(server.root, file.name)
    const client = await server.connect()
    client.socket.pause()
    client.write(request('/f/swap'))
    await server.until((stats) => stats.active === 1)
    if (round % 2) unlinkSync(path)
    else {
      writeFileSync(`${path}.new`, 'another')
      renameSync(`${path}.new`, path)
    }
    client.socket.resume()
    assertIs(await client.response(), file)
    client.close()
  }
}

/** Request bodies reach the handler unchanged, between and behind transfers, with any content and in packets of any size. */
export async function requestBodiesPassThrough(server: ServerProcess, pipelined: boolean): Promise<void> {
  const file = server.file('between', 400_000)
  const client = await server.connect()
  for (const size of [0, 1, 100_000, 5_000_000]) {
    for (const chunked of [false, true]) {
      const body = trickyBody(size)
      const parts = [request('/f/between'), post(body, chunked), request('/f/between')]
      if (pipelined) client.write(Buffer.concat(parts.map((part) => Buffer.from(part))))
      for (const [i, part] of parts.entries()) {
        if (!pipelined) client.write(part)
        const response = await client.response()
        if (i === 1) {
          assert.equal(response.status, 200)
          assert.equal(response.sha256, sha256(Buffer.from(`${size} ${sha256(body)}`)))
        } else assertIs(response, file)
      }
    }
  }
  client.close()
}

/** A body that contains heads, ends of heads and ends of chunks. */
function trickyBody(size: number): Buffer {
  return Buffer.alloc(size, 'GET /f/between HTTP/1.1\r\nHost: x\r\n\r\n0\r\n\r\n\r\n\r\nPOST ')
}

function post(body: Buffer, chunked: boolean): Buffer {
  const head = (header: string) => Buffer.from(request('/echo', `${header}\r\n`, 'POST'))
  if (!chunked) return Buffer.concat([head(`Content-Length: ${body.length}`), body])
  const pieces: Buffer[] = [head('Transfer-Encoding: chunked')]
  for (let at = 0, size = 1; at < body.length; at += size, size = Math.min(size * 3, 300_000)) {
    const piece = body.subarray(at, at + size)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}

/** A request with a body, sent a few bytes at a time, is read to its very end and no further. */
export async function splitBodiesPassThrough(server: ServerProcess, piece: number): Promise<void> {
  const file = server.file('after', 70_000)
  const client = await server.connect()
  for (const chunked of [false, true]) {
    const body = trickyBody(300)
    const bytes = Buffer.concat([post(body, chunked), Buffer.from(request('/f/after'))])
    for (let at = 0; at < bytes.length; at += piece) {
      client.write(bytes.subarray(at, at + piece))
      await nextTurn()
    }
    assert.equal((await client.response()).sha256, sha256(Buffer.from(`300 ${sha256(body)}`)))
    assertIs(await client.response(), file)
  }
  client.close()
}

/** Clients that hardly read cost no memory, however large the file. Returns the growth of the server's memory. */
export async function slowDownloadsCostNoMemory(server: ServerProcess, clients: number, size: number): Promise<number> {
  const name = 'large'
  writeFileSync(join(server.root, name), '')
  truncateSync(join(server.root, name), size)
  const before = await server.stats()
  const sockets = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = await server.connect()
      client.socket.pause()
      client.write(request(`/f/${name}`))
      return client
    }),
  )
  await server.until((stats) => stats.active === clients)
  let received = 0
  for (const { socket } of sockets) {
    socket.on('data', (data: Buffer) => {
      received += data.length
      socket.pause()
    })
  }
  // Every client reads a little, then waits, often enough to be served in many small steps.
  for (let round = 0; round < 20; round++) {
    for (const { socket } of sockets) socket.resume()
    await wait(50)
  }
  const after = await server.stats()
  assert.ok(received > 0)
  assert.equal(after.active, clients)
  for (const client of sockets) client.close()
  await server.until((stats) => stats.active === 0)
  return after.peak - before.rss
}

/** A client that reads nothing is cut after the stall time of the server, and the descriptor is closed. */
export async function stalledClientsAreCut(server: ServerProcess): Promise<void> {
  const file = server.file('stall', 30_000_000)
  const client = await server.connect()
  client.socket.pause()
  client.write(request(`/f/${file.name}`))
  const before = await server.until((stats) => stats.active === 1)
  const after = await server.until((stats) => stats.active === 0)
  assert.equal(after.stalled, before.stalled + 1)
  assert.ok(after.descriptors < before.descriptors)
  client.close()
}

/** Errors thrown at the end of a transfer, and transfers without a cork, do no harm. */
export async function callersMayBeWrong(server: ServerProcess): Promise<void> {
  const file = server.file('wrong', 300_000)
  const client = await server.connect()
  for (const path of ['throws', 'uncorked', 'f']) {
    client.write(request(`/${path}/${file.name}`))
    assertIs(await client.response(), file)
  }
  client.close()
  assert.ok(server.isAlive())
}

/** After the listener is closed, a transfer in progress arrives complete; the process ends when it is asked to close. */
export async function drainsAndCloses(server: ServerProcess): Promise<void> {
  const file = server.file('drain', 20_000_000)
  const [first, second] = [await server.connect(), await server.connect()]
  for (const client of [first, second]) {
    client.socket.pause()
    client.write(request(`/f/${file.name}`))
  }
  await server.until((stats) => stats.active === 2)
  server.signal('SIGUSR2')
  first.socket.resume()
  assertIs(await first.response(), file)
  server.signal('SIGTERM')
  second.socket.resume()
  await assert.rejects(second.response())
  first.close()
  assert.equal(await server.ended(), 0)
}

/** Random pieces of bytes that resemble requests end connections at most. `seed` makes a run repeatable. */
export async function garbageHarmsNobody(server: ServerProcess, rounds: number, seed: number): Promise<void> {
  const file = server.file('garbage', 100_000)
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const valid = Buffer.concat([
    Buffer.from(request('/f/garbage') + request('/later/garbage')),
    post(trickyBody(random(2000)), false),
    post(trickyBody(random(2000)), true),
    Buffer.from(request('/f/garbage', 'Range: bytes=5-9\r\n')),
  ])
  for (let round = 0; round < rounds; round++) {
    const bytes = Buffer.from(valid)
    for (let i = random(6); i > 0; i--) bytes[random(bytes.length)] = random(256)
    const cut = random(bytes.length)
    const mutated = random(2) ? bytes : Buffer.concat([bytes.subarray(0, cut), bytes.subarray(cut + random(40))])
    const client = await server.connect()
    client.socket.resume()
    for (let at = 0; at < mutated.length && !client.socket.destroyed; ) {
      const size = 1 + random(random(2) ? 20 : mutated.length)
      client.write(mutated.subarray(at, at + size))
      at += size
      await nextTurn()
    }
    client.close()
  }
  const client = await server.connect()
  client.write(request('/f/garbage'))
  assertIs(await client.response(), file)
  client.close()
  await server.until((stats) => stats.active === 0)
}
