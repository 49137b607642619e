import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outcomeOf, Workshop } from './testing/workshop.js'

/** A band around the equator, since the whole globe has four times as many tiles in as many blocks. */
const BAND = ['-a_srs', 'EPSG:4326', '-a_ullr', '-180', '40', '180', '-40']
/** The band at zoom 5 takes four blocks of 4,096 pixels, and three zooms above them. */
const ZOOMS = { zoom_min: 0, zoom_max: 5 } as const
const BLOCKS = 4

let shop: Workshop
let globe: string
let whole: Record<string, string>
beforeAll(async () => {
  shop = new Workshop()
  globe = await shop.make('globe.tif', 'gdal_translate', ['-of', 'GTiff', ...BAND])
  whole = digests(await shop.layer({ source_paths: [globe], ...ZOOMS, tile_format: 'webp' }))
}, 120_000)
afterAll(() => shop.close())

let runs = 0
function resumable(changes: Partial<TilingRequest> = {}): TilingRequest {
  const name = `run-${++runs}`
  return shop.request({
    source_paths: [globe],
    ...ZOOMS,
    tile_format: 'webp',
    staging_dir: shop.path(`${name}-tiles`),
    resume: { dir: shop.folder(`${name}-resume`) },
    ...changes,
  })
}

/** Every file of a layer, its metadata too. */
function digests(layer: string): Record<string, string> {
  const files = readdirSync(layer, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(layer.length + 1), createHash('sha256').update(readFileSync(path)).digest('hex')]
    }),
  )
}

function recordsOf({ resume }: TilingRequest): string[] {
  return existsSync(resume!.dir) ? readdirSync(resume!.dir).filter((name) => /^\d+-\d+$/.test(name)) : []
}

/** Ends the tool as soon as it has finished some blocks. */
async function interrupt(request: TilingRequest, signal: NodeJS.Signals, blocks = 2): Promise<void> {
  const child = shop.start(request)
  const ended = outcomeOf(child)
  while (recordsOf(request).length < blocks) await sleep(10)
  child.kill(signal)
  await ended
  expect(recordsOf(request).length).toBeLessThan(BLOCKS)
}

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a run that %s ended goes on with its finished blocks, and ends in the very bytes of one that was not interrupted',
  { timeout: 120_000 },
  async (signal) => {
    const request = resumable()
    await interrupt(request, signal)
    const kept = recordsOf(request).length
    const outcome = await shop.tile(request)
    expect(outcome.log).toContain(`going on with ${kept} finished blocks`)
    expect(outcome.lines.find(({ type }) => type === 'plan')).toMatchObject({ bytes_kept: expect.any(Number) })
    expect(outcome.lines.at(-1)).toMatchObject({ ok: true, tiles_written: Object.keys(whole).length - 1 })
    expect(digests(request.staging_dir)).toEqual(whole)
  },
)

test('a block of which a tile was damaged, cut or lost is made again, and so are torn tiles that no block counts', {
  timeout: 120_000,
}, async () => {
  const request = resumable()
  await interrupt(request, 'SIGKILL')
  const tiles = Object.keys(digests(request.staging_dir)).filter((name) => name.startsWith('5/'))
  truncateSync(join(request.staging_dir, tiles[0]!), 10)
  for (const name of tiles.filter((_, index) => index % 50 === 49)) writeFileSync(join(request.staging_dir, name), 'x')
  const outcome = await shop.tile(request)
  expect(outcome.log).not.toContain('going on with 2 finished blocks')
  expect(digests(request.staging_dir)).toEqual(whole)
})

test('a record that was torn counts for nothing', { timeout: 120_000 }, async () => {
  const request = resumable()
  await interrupt(request, 'SIGKILL')
  for (const name of recordsOf(request)) {
    const record = join(request.resume!.dir, name)
    truncateSync(record, statSync(record).size - 20)
  }
  const outcome = await shop.tile(request)
  expect(outcome.log).not.toContain('going on with')
  expect(digests(request.staging_dir)).toEqual(whole)
})

test('a run begins from an empty folder where a source was written to, unless its tag says that its content is the same', {
  timeout: 120_000,
}, async () => {
  const request = resumable()
  await interrupt(request, 'SIGKILL')
  utimesSync(globe, 1e9, 1e9)
  const outcome = await shop.tile(request)
  expect(outcome.log).not.toContain('going on with')
  expect(digests(request.staging_dir)).toEqual(whole)

  const tagged = resumable()
  const named = {
    ...tagged,
    resume: { ...tagged.resume!, source_tags: ['12 "etag"'] },
  }
  await interrupt(named, 'SIGKILL')
  utimesSync(globe, 1e9, 1e9)
  expect((await shop.tile(named)).log).toContain('going on with')
  expect(digests(named.staging_dir)).toEqual(whole)
})

test('another request does not go on with the tiles of the one before', { timeout: 120_000 }, async () => {
  const request = resumable()
  await interrupt(request, 'SIGKILL')
  const outcome = await shop.tile({ ...request, zoom_max: 3, tile_format: 'png' })
  expect(outcome.log).not.toContain('going on with')
  expect(Object.keys(digests(request.staging_dir)).filter((name) => name.endsWith('.webp'))).toEqual([])
})
