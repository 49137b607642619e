import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const run = promisify(execFile)
const MERCATOR = 20037508.342789244
const PLACES = ['0/0/0', '3/2/5', '4/7/9', '4/3/11', '4/15/2']

let token = ''
const gateway = useGateway({}, async (started) => {
  const path = join(started.home, 'maps')
  mkdirSync(path)
  await started.admin.expect('/scan-sources', { body: { code: 'maps', kind: 'basemap', path, watch: true } })
  token = (await started.issueToken({ basemap_codes: ['world'] })).token
})

/** Writes a version by gdal2tiles, straight into the folder that is watched. */
async function tile(version: string, colours: readonly number[]): Promise<void> {
  const { home } = gateway()
  const image = join(home, `${version}.tif`)
  const burn = colours.flatMap((one) => ['-burn', `${one}`])
  const corners = [-MERCATOR, MERCATOR, MERCATOR, -MERCATOR].map(String)
  await run('gdal_create', [
    '-outsize',
    '1024',
    '1024',
    '-bands',
    '3',
    ...burn,
    '-a_srs',
    'EPSG:3857',
    '-a_ullr',
    ...corners,
    image,
  ])
  const into = join(home, 'maps/world', version)
  await run('gdal2tiles.py', ['-q', '-w', 'none', '--xyz', '-z', '0-4', image, into])
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const onDisk = (version: string) =>
  Object.fromEntries(
    PLACES.map((place) => [place, digest(readFileSync(join(gateway().home, 'maps/world', version, `${place}.png`)))]),
  )

/** Returns the answer to clients at one place: a status, or the digest of the tile. */
async function ask(place: string): Promise<string> {
  const answer = await fetch(`${gateway().url}/tiles/world/${place}.png?token=${token}`)
  const bytes = new Uint8Array(await answer.arrayBuffer())
  return answer.status === 200 ? digest(bytes) : String(answer.status)
}

/** Asks for all places, over and over, until each answer is the wanted one; returns all different answers of each place. */
async function readUntil(wanted: () => Readonly<Record<string, string>> | null): Promise<Record<string, string[]>> {
  const heard: Record<string, Set<string>> = Object.fromEntries(PLACES.map((place) => [place, new Set()]))
  for (let isDone = false; !isDone; ) {
    const now = Object.fromEntries(await Promise.all(PLACES.map(async (place) => [place, await ask(place)] as const)))
    for (const place of PLACES) heard[place]?.add(now[place] as string)
    const goal = wanted()
    // As often as clients ask: gdal2tiles needs the processor, too.
    await sleep(50)
    isDone = goal !== null && PLACES.every((place) => now[place] === goal[place])
  }
  return Object.fromEntries(Object.entries(heard).map(([place, answers]) => [place, [...answers]]))
}

/** Tiles a version while clients read, until they have it without anybody's help. */
async function readWhileTiling(version: string, colours: readonly number[]) {
  let goal: Record<string, string> | null = null
  const tiled = tile(version, colours).then(() => {
    goal = onDisk(version)
  })
  const [heard] = await Promise.all([readUntil(() => goal), tiled])
  return heard
}

interface Scan {
  readonly status: string
  readonly reason: string
  readonly changed: readonly string[] | null
}
const scans = async () => (await gateway().admin.expect<{ items: Scan[] }>('/scan-sources/maps/scans')).items

test('gdal2tiles writes into a watched folder while clients read: no manual step, and no wrong tile', {
  timeout: 240_000,
}, async () => {
  // The source is watched once it has been scanned as a whole.
  await vi.waitFor(async () => expect((await scans())[0]?.status).toBe('succeeded'), { timeout: 90_000 })
  const first = await readWhileTiling('v1', [200, 30, 30])
  const v1 = onDisk('v1')
  for (const place of PLACES)
    expect(['403', '404', v1[place]]).toEqual(expect.arrayContaining(first[place] as string[]))
  const second = await readWhileTiling('v2', [30, 30, 200])
  const v2 = onDisk('v2')
  expect(v2).not.toEqual(v1)
  for (const place of PLACES) expect([v1[place], v2[place]]).toEqual(expect.arrayContaining(second[place] as string[]))
  const items = await scans()
  expect(new Set(items.map(({ reason }) => reason))).toEqual(new Set(['watch']))
  expect(items.some(({ changed }) => changed?.includes('world/v2'))).toBe(true)
})
