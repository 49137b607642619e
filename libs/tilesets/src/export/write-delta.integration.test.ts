import { execFile } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeMbtiles } from '../mbtiles/writer.js'
import type { StoredSet } from '../source.js'
import { writeDelta } from './write-delta.js'
import { writeExport } from './write-export.js'

const WORLD: Bounds = [-180, -85, 180, 85]
const APPLY = fileURLToPath(new URL('../../../../docs/examples/apply/apply.mjs', import.meta.url))
const run = promisify(execFile)
const VERSIONS = [3, 4, 5, 6, 7, 8, 9]

let home: string
const sets = new Map<number, StoredSet>()

/** Each version changes, adds and removes tiles of the previous one; much of it is sea, in runs. */
beforeAll(async () => {
  home = fs.mkdtempSync(path.join(tmpdir(), 'delta-'))
  for (const version of VERSIONS) {
    const tiles = []
    for (let z = 0; z <= 6; z++)
      for (let x = 0; x < 2 ** z; x++)
        for (let y = 0; y < 2 ** z; y++) {
          const kind = (x * 31 + y * 17 + z) % 11
          if (kind === version || (z === 6 && version === 9 && x > 60)) continue
          const text = kind < 6 ? 'sea' : `${z}/${x}/${y} ${kind === (version * 3) % 11 ? version : 'old'}`
          tiles.push({ z, x, y, data: Buffer.from(text) })
        }
    const file = path.join(home, `${version}.mbtiles`)
    await writeMbtiles(file, tiles, { format: 'png', bounds: WORLD, metadata: {}, name: 'set' })
    sets.set(version, { storage: 'mbtiles', format: 'png', path: file, root: home, extension: 'png' })
    await writeExport(task(version, whole(version)), () => {})
  }
})
afterAll(() => fs.rmSync(home, { recursive: true }))

const whole = (version: number) => path.join(home, `whole-${version}.pmtiles`)
const task = (version: number, file: string) => ({
  set: sets.get(version) as StoredSet,
  area: { minZoom: 0, maxZoom: 6, bounds: null },
  bounds: WORLD,
  metadata: { name: 'Set', version: String(version), '7': 'a key that is a number' },
  file,
  maxBytes: 1e9,
})

async function delta(from: number, to: number): Promise<string> {
  const file = path.join(home, `${from}-${to}.pmtiles`)
  const versions = { from: String(from), to: String(to) }
  await writeDelta({ ...task(to, file), older: sets.get(from) as StoredSet, versions }, () => {})
  return file
}

const applyByPython = (...args: string[]) => run('python3', [APPLY.replace(/mjs$/, 'py'), ...args])
const apply = (...args: string[]) => run(process.execPath, [APPLY, ...args])

test('a copy goes from version 3 to 9 by several deltas or by one, and equals the newer archive byte for byte', async () => {
  const copy = path.join(home, 'copy.pmtiles')
  fs.copyFileSync(whole(3), copy)
  for (const version of VERSIONS.slice(1)) {
    const file = await delta(version - 1, version)
    expect(fs.statSync(file).size).toBeLessThan(fs.statSync(whole(version)).size)
    await apply(copy, file, copy)
    expect(fs.readFileSync(copy).equals(fs.readFileSync(whole(version)))).toBe(true)
  }
  const atOnce = path.join(home, 'at-once.pmtiles')
  const { stdout } = await apply(whole(3), await delta(3, 9), atOnce)
  expect(stdout).toContain('tiles')
  expect(fs.readFileSync(atOnce).equals(fs.readFileSync(whole(9)))).toBe(true)
})

test('the Python client goes from version 3 to 9 as well, and its result accepts the next delta', async () => {
  const copy = path.join(home, 'python.pmtiles')
  fs.copyFileSync(whole(3), copy)
  for (const version of VERSIONS.slice(1, -1)) await applyByPython(copy, await delta(version - 1, version), copy)
  await expect(applyByPython(copy, await delta(5, 6), copy)).rejects.toThrow('is not the version 5')
  const newest = path.join(home, 'newest.pmtiles')
  const { stdout } = await applyByPython(copy, await delta(8, 9), newest)
  expect(stdout).toMatch(/newest\.pmtiles: \d+ tiles/)
  // Another library has compressed its directories; the tiles are the same.
  const repacked = path.join(home, 'repacked.pmtiles')
  await apply(newest, await delta(9, 9), repacked)
  expect(fs.readFileSync(repacked).equals(fs.readFileSync(whole(9)))).toBe(true)
})

test('a delta with only removals, and an empty one, are archives as well', async () => {
  const small = { ...(sets.get(3) as StoredSet), path: path.join(home, 'small.mbtiles') }
  const tiles = [{ z: 0, x: 0, y: 0, data: Buffer.from('sea') }]
  await writeMbtiles(small.path, tiles, { format: 'png', bounds: WORLD, metadata: {}, name: 'small' })
  const [file, smallWhole, newer] = ['removing', 'small', 'newer'].map((name) =>
    path.join(home, `${name}.pmtiles`),
  ) as [string, string, string]
  await writeExport({ ...task(3, smallWhole), set: small }, () => {})
  const versions = { from: '3', to: 'small' }
  const written = await writeDelta(
    { ...task(3, file), set: small, older: sets.get(3) as StoredSet, versions },
    () => {},
  )
  expect(written.tiles).toBe(0)
  await apply(whole(3), file, newer)
  expect(fs.readFileSync(newer).equals(fs.readFileSync(smallWhole))).toBe(true)
  const nothing = await delta(5, 5)
  await apply(whole(5), nothing, newer)
  expect(fs.readFileSync(newer).equals(fs.readFileSync(whole(5)))).toBe(true)
})

test('a copy that is not the older version, or is damaged, stays unchanged', async () => {
  const copy = path.join(home, 'kept.pmtiles')
  fs.copyFileSync(whole(4), copy)
  const file = await delta(5, 6)
  await expect(apply(copy, file, copy)).rejects.toThrow('is not the version 5')
  const damaged = path.join(home, 'damaged.pmtiles')
  const bytes = fs.readFileSync(file)
  bytes[16_384] = (bytes[16_384] as number) ^ 1
  fs.writeFileSync(damaged, bytes)
  await expect(apply(whole(5), damaged, copy)).rejects.toThrow('is not the version 6')
  await expect(apply(copy, whole(6), copy)).rejects.toThrow('is no delta')
  expect(fs.readFileSync(copy).equals(fs.readFileSync(whole(4)))).toBe(true)
  expect(fs.readdirSync(home).filter((name) => name.endsWith('.new'))).toEqual([])
})

test.each([
  ['Node', apply],
  ['Python', applyByPython],
])('an interrupted download by %s continues where it ended', async (client, applied) => {
  const bytes = fs.readFileSync(await delta(3, 9))
  const ranges: (string | undefined)[] = []
  const server = http.createServer(({ headers }, answer) => {
    ranges.push(headers.range)
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    const isPart = from > 0 && headers['if-range'] === '"one"'
    const rest = isPart ? bytes.subarray(from) : bytes
    const about = { ETag: '"one"', 'Content-Length': rest.length }
    answer.writeHead(
      isPart ? 206 : 200,
      isPart ? { ...about, 'Content-Range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : about,
    )
    if (ranges.length > 1 || headers.authorization !== 'Bearer x') return void answer.end(rest)
    answer.write(rest.subarray(0, rest.length / 2), () => answer.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/delta.pmtiles`
  const newer = path.join(home, `fetched by ${client}.pmtiles`)
  const fetched = () => applied(whole(3), url, newer, '--header', 'Authorization: Bearer x')
  await expect(fetched()).rejects.toThrow()
  const had = fs.statSync(`${newer}.delta`).size
  await fetched()
  server.close()
  expect(ranges).toEqual([undefined, had === 0 ? undefined : `bytes=${had}-`])
  if (client === 'Node') expect(fs.readFileSync(newer).equals(fs.readFileSync(whole(9)))).toBe(true)
  expect(fs.existsSync(`${newer}.delta`)).toBe(false)
})
