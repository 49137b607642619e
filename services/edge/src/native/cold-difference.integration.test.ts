import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeLayout } from '@gateway/tilesets/testing/mbtiles-layouts.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  askBoth,
  counted,
  DATABASES,
  home,
  inShort,
  LARGE_BYTES,
  natively,
  plainly,
  root,
  seen,
  state,
  TOKENS,
  targetOf,
  useColdEdges,
  type Who,
} from '../testing/cold-edges.js'
import { NOT_NATIVE, OTHER_CODES } from '../testing/cold-others.js'
import { change, doOperate, fileOf, step } from '../testing/cold-steps.js'
import type { RawAnswer } from '../testing/raw-client.js'
import { takeCells, takeUsage } from '../testing/running-edge.js'
import { TILE_SAMPLING } from '../usage/tile-counts.js'

/** The same steps in every run. To run others, and more: FUZZ_REQUESTS=50000 FUZZ_SEED=7 npm test -- native/cold-difference */
const STEPS = Number(process.env.FUZZ_REQUESTS ?? 4_000)
const SEED = Number(process.env.FUZZ_SEED ?? 1)
/** Number of missing tiles in two seconds that are looked up, equal to AbsentTiles::kLookedFor of libs/native-edge. */
const MISSES_LOOKED_FOR = 1_000

useColdEdges()

test('tiles are read without JavaScript exactly as with it, during changes of files, catalog and tokens', {
  timeout: 120_000,
}, async () => {
  const start = counted()
  for (const { running } of [natively, plainly]) {
    takeUsage(running)
    takeCells(running)
  }
  const last = new Map<string, RawAnswer>()
  let address = ''
  for (const one of fc.sample(step, { seed: SEED, numRuns: STEPS })) {
    if (one.step === 'alter') change(fileOf(one.place), one.how)
    else if (one.step === 'operate') await doOperate(one.what)
    else {
      if (!one.again || address === '') address = one.address
      const fieldOf = (name: string) =>
        last
          .get(address)
          ?.lines.find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      const tag = one.condition === 'tag' ? fieldOf('ETag') : undefined
      const date = one.condition === 'date' ? fieldOf('Last-Modified') : undefined
      const headers: [string, string][] = [
        ['Host', 'x'],
        ['X-Access-Token', TOKENS[one.who]],
        ['Accept-Encoding', one.encoding],
        ...one.image.map(([name, value]): [string, string] => [name, value]),
      ]
      if (tag !== undefined) headers.push(['If-None-Match', tag])
      if (date !== undefined) headers.push(['If-Modified-Since', date])
      const [answer, expected] = await askBoth({
        method: one.method,
        target: targetOf(address, one.query),
        headers,
      })
      expect(inShort(answer), JSON.stringify({ ...one, address })).toEqual(inShort(expected))
      last.set(address, answer)
    }
  }
  console.log(`seed ${SEED}`, seen)
  const many = STEPS / 1_000
  for (const about of ['GET 200', 'GET 200 packed', 'GET 403', 'GET 404', 'GET 304']) {
    expect(seen[about] ?? 0, `${about} of ${JSON.stringify(seen)}`).toBeGreaterThan(many)
  }
  expect(seen['vector 200'] ?? 0, JSON.stringify(seen)).toBeGreaterThan(0)
  expect(seen['HEAD 404'] ?? 0, JSON.stringify(seen)).toBeGreaterThan(0)
  for (const layout of [...DATABASES, ...OTHER_CODES])
    if (!(NOT_NATIVE as readonly string[]).includes(layout))
      expect(seen[`${layout} 200`] ?? 0, JSON.stringify(seen)).toBeGreaterThan(0)
  for (const layout of NOT_NATIVE) expect(seen[`${layout} 200`], JSON.stringify(seen)).toBeUndefined()
  expect(seen['GET 200 large'] ?? 0, JSON.stringify(seen)).toBeGreaterThan(0)
  // The counts are as exact, and no tile is cached.
  const [quick = {}, plain = {}] = counted().map((now, i) =>
    Object.fromEntries(Object.entries(now).map(([name, n]) => [name, n - (start[i]?.[name as 'requests'] ?? 0)])),
  )
  expect(quick).toEqual(plain)
  const usage = takeUsage(plainly.running)
  expect(takeUsage(natively.running)).toEqual(usage)
  const sumOf = (kind: string, name: 'tiles' | 'tile_404' | 'bytes') =>
    usage.map((row) => JSON.parse(row)).reduce((sum, row) => (row.kind === kind ? sum + row[name] : sum), 0)
  expect([sumOf('token', 'tiles'), sumOf('token', 'tile_404'), sumOf('token', 'bytes')]).toEqual([
    plain.tiles,
    plain.missingTiles,
    plain.bytesSent,
  ])
  const ofVectors = sumOf('vector', 'tiles')
  expect(ofVectors).toBeGreaterThan(0)
  expect([sumOf('version', 'tiles'), sumOf('basemap', 'tiles')]).toEqual(Array(2).fill((plain.tiles ?? 0) - ofVectors))
  expect(quick.hotTileHits).toBe(0)
  // Beyond the exact limit the two count different samples.
  if (STEPS > TILE_SAMPLING.exact) return
  const cells = takeCells(plainly.running)
  expect(takeCells(natively.running)).toEqual(cells)
  for (const name of ['tiles', 'tile_404'] as const) {
    expect(
      cells.some((row) => JSON.parse(row)[name] > 0),
      name,
    ).toBe(true)
  }
})

test('a folder with thousands of requests for missing tiles serves existing and new tiles', async () => {
  if (state.withdrawn) await doOperate('withdraw')
  const folder = path.join(fs.realpathSync(root), 'v1')
  const there = path.join(folder, '10/1/1.png')
  fs.mkdirSync(path.dirname(there), { recursive: true })
  fs.writeFileSync(there, 'there')
  const headers: [string, string][] = [
    ['Host', 'x'],
    ['X-Access-Token', TOKENS.all],
  ]
  const ask = async (tile: string) => {
    const answer = await natively.client.ask({ method: 'GET', target: `/tiles/alps/v1/${tile}.png`, headers })
    return answer.status === 200 ? answer.body.toString() : answer.status
  }
  // One tile in a column that exists, one in a column that does not exist.
  const absent = ['10/1/2', '10/2/2']
  const { native } = natively.running.edge
  const before = native.answers
  for (let i = 0; i < 2 * MISSES_LOOKED_FOR; i++) expect(await ask(absent[i % 2] as string)).toBe(404)
  // Without JavaScript, except for directory entries that the kernel did not know yet, and the request that renews the set.
  expect(native.answers - before).toBeGreaterThan(1.9 * MISSES_LOOKED_FOR)
  expect(await ask('10/1/1')).toBe('there')
  for (const tile of absent) {
    const file = path.join(folder, `${tile}.png`)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, tile)
  }
  for (const tile of absent) await expect.poll(() => ask(tile)).toBe(tile)
  expect(await ask('10/1/1')).toBe('there')
})

test('GetTile in key-value form is answered without JavaScript once its set is known, and refused in the form of the WMTS', async () => {
  if (state.withdrawn) await doOperate('withdraw')
  for (const version of ['v1', 'v2']) change(path.join(fs.realpathSync(root), version, '8/3/2.png'), 'write')
  const own = ['SERVICE=WMTS', 'REQUEST=GetTile', 'VERSION=1.0.0', 'LAYER=alps', 'STYLE=default']
  const place = ['TILEMATRIXSET=WebMercatorQuad', 'TILEMATRIX=8', 'TILEROW=2', 'TILECOL=3', 'FORMAT=image/png']
  const query = [...own, ...place].join('&')
  const { native } = natively.running.edge
  const ask = async (asked: string, who: Who = 'all') => {
    const before = native.answers
    const target = `/wmts?${asked}`
    const [answer, expected] = await askBoth({
      method: 'GET',
      target,
      headers: [
        ['Host', 'x'],
        ['X-Access-Token', TOKENS[who]],
      ],
    })
    expect(answer, asked).toEqual(expected)
    return [answer.status, native.answers - before]
  }
  await expect.poll(() => ask(query)).toEqual([200, 1])
  const good = [
    query.toLowerCase().replace(/(webmercator)(quad)/, 'WebMercatorQuad'),
    query.replace('/', '%2F'),
    query.replace('/', '%2f'),
    query.replace('VERSION=1.0.0&', '').replace('STYLE=default&', 'style=&'),
    `&&${[...place, ...own].reverse().join('&')}&v=3&LAYER=photos&missing=204`,
  ]
  // Polled, since the set may expire in between.
  for (const one of good) await expect.poll(() => ask(one), { message: one }).toEqual([200, 1])
  const others: [query: string, status: number][] = [
    [query.replace('TILEROW=2', 'TILEROW=1'), 404],
    [query.replace('TILEROW=2', 'TILEROW=256'), 400],
    [query.replace('TILEROW=2', 'TILEROW=02'), 400],
    [query.replace('TILEMATRIX=8', 'TILEMATRIX=8/3'), 400],
    [query.replace('WebMercatorQuad', 'WorldCRS84Quad'), 400],
    [query.replace('image/png', 'image/webp'), 400],
    [query.replace('1.0.0', '1.3.0'), 400],
    [query.replace('STYLE=', 'STYLE=x'), 400],
    [query.replace('SERVICE=WMTS&', ''), 400],
    [query.replace('STYLE=default&', ''), 400],
    [query.replace('LAYER=alps', 'LAYER=none'), 400],
    [query.replace('LAYER=alps', 'LAYER=alps/current'), 400],
  ]
  for (const [one, status] of others) expect([one, await ask(one)]).toEqual([one, [status, 0]])
  expect(await ask(query, 'others')).toEqual([403, 0])
})

test('a bundle that is written to in its place is read as it is then', async () => {
  const bundle = path.join(fs.realpathSync(root), 'compact/_alllayers/L07/R0000C0000.bundle')
  const headers: [string, string][] = [
    ['Host', 'x'],
    ['X-Access-Token', TOKENS.all],
  ]
  const ask = async (tile: string) => {
    const { native } = natively.running.edge
    const before = native.answers
    const answer = await natively.client.ask({ method: 'GET', target: `/tiles/compact/v1/7/${tile}.png`, headers })
    return { status: answer.status, body: answer.body.toString('latin1'), natively: native.answers - before }
  }
  // Until the set is known.
  await expect.poll(async () => (await ask('1/0')).natively).toBe(1)
  expect(await ask('0/0')).toMatchObject({ status: 404, natively: 1 })
  const file = fs.openSync(bundle, 'r+')
  const record = Buffer.alloc(8)
  record.writeUIntLE(fs.fstatSync(file).size, 0, 5)
  record.writeUIntLE(4, 5, 3)
  fs.writeSync(file, 'tile', fs.fstatSync(file).size)
  fs.writeSync(file, record, 0, 8, 64)
  fs.closeSync(file)
  expect(await ask('0/0')).toMatchObject({ status: 200, body: 'tile' })
  await expect.poll(() => ask('0/0')).toEqual({ status: 200, body: 'tile', natively: 1 })
})

test.each(['a folder', 'an archive', 'a database', 'a bundle', 'a COG with tables'])(
  'a client that pauses gets every byte of its pipelined requests for tiles of %s',
  async (where) => {
    const isFolder = where === 'a folder'
    let body: Buffer = randomBytes(isFolder ? 60_000 : LARGE_BYTES)
    if (state.withdrawn) await doOperate('withdraw')
    if (isFolder) {
      const file = path.join(fs.realpathSync(root), 'v1/9/1/1.png')
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, body)
    } else if (where === 'a database') {
      const file = path.join(home, 'paused')
      writeLayout(file, 'tiles', [{ z: 9, x: 1, y: 1, data: body }])
      fs.renameSync(file, path.join(root, 'tiles.mbtiles'))
      await doOperate('scan')
    }
    const target = {
      'a folder': '/tiles/alps/v1/9/1/1.png',
      'an archive': '/tiles/archive/v1/3/1/1.png',
      'a bundle': '/tiles/compact/v1/3/1/1.png',
      'a COG with tables': '/tiles/jcog/v1/7/21/0.jpg',
      'a database': '/tiles/tiles/v1/9/1/1.png',
    }[where] as string
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${TOKENS.all}\r\n\r\n`
    const { client, running } = natively
    const { counters } = running.edge
    for (let i = 0; i < 2; i++) {
      const answer = await client.ask({
        method: 'GET',
        target,
        headers: [
          ['Host', 'x'],
          ['X-Access-Token', TOKENS.all],
        ],
      })
      if (!isFolder && where !== 'a database') body = answer.body
    }
    counters.beforeReading()
    const before = counters.nativeColdTiles
    const socket = net.connect(Number(new URL(running.url).port), '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.pause()
    const count = where === 'a database' ? 30 : 200
    socket.write(`${request.repeat(count)}${request.slice(0, -2)}Connection: close\r\n\r\n`)
    // Until the kernel accepts no more for a client that does not read.
    for (let sent = -1; sent !== counters.bytesSent; counters.beforeReading()) {
      sent = counters.bytesSent
      await sleep(50)
    }
    const parts: Buffer[] = []
    for await (const part of socket) parts.push(part as Buffer)
    const bodies = Buffer.concat(parts)
      .toString('latin1')
      .split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/)
      .slice(1)
    expect(bodies.length).toBe(count + 1)
    expect(bodies.every((one) => one === body.toString('latin1'))).toBe(true)
    counters.beforeReading()
    expect(counters.nativeColdTiles - before).toBeGreaterThan(count / 2)
  },
)
