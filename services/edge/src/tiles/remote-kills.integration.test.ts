import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { dieWithParent } from '@gateway/core/processes/die-with-parent.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ObjectServer, startObjectServer } from '../testing/object-server.js'

/** `npm run kills:cache` runs a hundred kills. */
const KILLS = Number(process.env.CACHE_KILLS ?? 1)
const EDGE = fileURLToPath(new URL('../../dist/testing/edge-process.js', import.meta.url))
const ZOOM = 5
const SIDE = 2 ** ZOOM
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let home: string
let files: string
let storage: ObjectServer
/** Keyed by `z/x/y`. */
const hashes = new Map<string, string>()

beforeAll(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'remote-kills-')))
  files = path.join(home, 'files')
  fs.mkdirSync(files)
  fs.mkdirSync(path.join(home, 'data'))
  const tiles = Array.from({ length: SIDE * SIDE }, (_, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE)]
    const data = randomBytes(2_000 + ((i * 7_919) % 20_000))
    hashes.set(`${ZOOM}/${x}/${y}`, hash(data))
    return { z: ZOOM, x, y, data }
  })
  const about = { bounds: [-180, -85, 180, 85] as [number, number, number, number], metadata: {} }
  await writePmtiles(path.join(files, 'world.pmtiles'), tiles, { ...about, format: 'png', encoding: 'identity' })
  storage = await startObjectServer(files, home)
})
afterAll(async () => {
  await storage.close()
  fs.rmSync(home, { recursive: true, force: true })
})

interface Killable {
  readonly process: ChildProcess
  readonly url: string
  readonly token: string
}

async function startEdge(): Promise<Killable> {
  const tokenFile = path.join(home, 'data/token')
  fs.rmSync(tokenFile, { force: true })
  const port = await freePort()
  const args = [EDGE, String(port), `${storage.url}/world.pmtiles`, path.join(home, 'data')]
  const [command = '', ...rest] = [...dieWithParent('KILL'), process.execPath, ...args]
  const edge = spawn(command, rest, { stdio: 'inherit' })
  while (!fs.existsSync(tokenFile)) {
    if (edge.exitCode !== null) throw new Error(`the edge ended with ${edge.exitCode}`)
    await sleep(10)
  }
  return { process: edge, url: `http://127.0.0.1:${port}`, token: fs.readFileSync(tokenFile, 'utf8') }
}

/**
 * Returns the number of complete responses, and the tiles with wrong bytes. Responses that the kill has cut do not
 * count.
 */
async function readTiles({ url, token }: Killable, places: readonly string[]) {
  const wrong: string[] = []
  let answered = 0
  const next = places.values()
  const worker = async () => {
    for (const place of next) {
      const answer = await fetch(`${url}/tiles/world/v1/${place}.png`, {
        headers: { authorization: `Bearer ${token}` },
      })
        .then(async (response) => ({ status: response.status, body: Buffer.from(await response.arrayBuffer()) }))
        .catch(() => null)
      if (answer === null) return
      answered++
      if (answer.status !== 200 || hash(answer.body) !== hashes.get(place)) wrong.push(`${place}: ${answer.status}`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return { answered, wrong }
}

const shuffled = () => [...hashes.keys()].sort(() => Math.random() - 0.5)

test(`an edge that is killed ${KILLS} times while it fills its cache leaves no wrong byte`, {
  timeout: 1_800_000,
}, async () => {
  for (let kill = 0; kill < KILLS; kill++) {
    // Before the cache is full.
    if (kill % 3 === 0) fs.rmSync(path.join(home, 'data/cache'), { recursive: true, force: true })
    const edge = await startEdge()
    const begun = storage.requests.length
    const reading = readTiles(edge, shuffled())
    // After this many requests, each of which loads a block that is being written.
    const after = begun + 1 + Math.floor(Math.random() * 15)
    await expect.poll(() => storage.requests.length, { interval: 1 }).toBeGreaterThan(after)
    edge.process.kill('SIGKILL')
    await once(edge.process, 'exit')
    const { answered, wrong } = await reading
    expect([wrong, answered < hashes.size]).toEqual([[], true])
  }
  const edge = await startEdge()
  const begun = storage.requests.length
  expect(await readTiles(edge, [...hashes.keys()])).toEqual({ answered: hashes.size, wrong: [] })
  if (KILLS > 10) console.info(`${storage.requests.length - begun} requests for what was not kept`)
  edge.process.kill('SIGKILL')
  await once(edge.process, 'exit')
})
