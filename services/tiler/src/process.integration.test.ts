import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GLOBE_REFERENCE, outcomeOf, Workshop } from './testing/workshop.js'

/** A result that names its reason by a code, too. */
const CODED_FAILURE = {
  type: 'result',
  ok: false,
  message_code: expect.any(String),
  message_params: expect.any(Object),
}

const shop = new Workshop()
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
let globe: string

beforeAll(async () => {
  globe = await shop.make('globe.tif', 'gdal_translate', [...GLOBE_REFERENCE, '-co', 'TILED=YES'])
})
afterAll(() => shop.close())

/** A job that takes far longer than any test waits. */
function longJob(engine: 'gdal' | 'wasm', limits = {}) {
  const request = shop.request({ source_paths: [globe], zoom_min: 0, zoom_max: 8, engine })
  return { ...request, limits: { ...request.limits, ...limits } }
}

/** Looks again and again until there is an answer; the test's own time-out ends it. */
async function eventually<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Helper programs of a running tool, once there is one that works on pixels. */
function helpers(tool: number): Promise<number[]> {
  return eventually(() => {
    const path = `/proc/${tool}/task/${tool}/children`
    const pids = readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number)
    const busy = (pid: number) => /gdalwarp|wasm-host/.test(existsSync(`/proc/${pid}`) ? commandOf(pid) : '')
    return pids.some(busy) && pids
  })
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function isGone(pid: number): boolean {
  // A process that has ended and was not yet waited for has no command line any more.
  return commandOf(pid) === ''
}

describe.runIf(process.platform === 'linux').each(shop.engines)('a running job with engine %s', (engine) => {
  it('ends at SIGTERM with a code, without helpers and without scratch files', async () => {
    const request = { ...longJob(engine), temp_dir: shop.path(`terminated-${engine}`) }
    const child = shop.start(request)
    const outcome = outcomeOf(child)
    const pids = await helpers(child.pid!)
    child.kill('SIGTERM')
    expect(await outcome).toMatchObject({ code: 143, signal: null })
    await eventually(() => pids.every(isGone))
    expect(readdirSync(request.temp_dir)).toEqual([])
  })

  it('leaves no helper behind when it is killed', async () => {
    const child = shop.start(longJob(engine))
    const outcome = outcomeOf(child)
    const pids = await helpers(child.pid!)
    child.kill('SIGKILL')
    expect(await outcome).toMatchObject({ code: null, signal: 'SIGKILL' })
    await eventually(() => pids.every(isGone))
  })

  it('ends when its parent has died', async () => {
    const script = `const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, [process.argv[1]], { stdio: ['pipe', 'pipe', 'ignore'] })
      child.stdout.resume()
      child.stdin.end(process.argv[2])
      console.log(child.pid)`
    const caller = spawn(process.execPath, ['-e', script, MAIN, JSON.stringify(longJob(engine))])
    const pid = await new Promise<number>((resolve) => caller.stdout.once('data', (data) => resolve(Number(data))))
    await helpers(pid)
    caller.kill('SIGKILL')
    await eventually(() => isGone(pid))
  })
})

it('a job that takes too long fails with a reason', async () => {
  const { code, lines } = await shop.tile(longJob(shop.engines[0]!, { timeout_seconds: 1 }))
  expect(code).toBe(1)
  expect(lines.at(-1)).toMatchObject({ ok: false, reason: expect.stringContaining('longer than the 1 seconds') })
})

it('a silent helper program is ended after its time limit', async () => {
  const { code, lines } = await shop.tile(longJob(shop.engines[0]!, { idle_timeout_seconds: 0.02 }))
  expect(code).toBe(1)
  expect(lines.at(-1)).toMatchObject({ ok: false, reason: expect.stringMatching(/in time|standstill|not usable/) })
})

it('progress grows up to 100 and the result comes last', async () => {
  const { code, lines } = await shop.tile(shop.request({ source_paths: [globe], zoom_min: 0, zoom_max: 2 }))
  expect(code).toBe(0)
  const percents = lines.flatMap((line) => (line.type === 'progress' ? [line.percent] : []))
  expect(percents).toEqual([...percents].sort((a, b) => a - b))
  expect(percents.at(-1)).toBe(100)
  expect(lines.filter((line) => line.type === 'plan')).toHaveLength(1)
  expect(lines.at(-1)).toMatchObject({ type: 'result', ok: true, tiles_written: 21 })
})

it('an estimate returns the expected size and writes nothing', async () => {
  const request = shop.request({ source_paths: [globe], zoom_min: 0, zoom_max: 9, estimate_only: true })
  const { code, lines } = await shop.tile(request)
  expect(code).toBe(0)
  const plan = lines.find((line) => line.type === 'plan')
  expect(plan).toMatchObject({ tiles: 349525, min_zoom: 0, max_zoom: 9, temp_bytes_estimate: 2 * 4096 * 4096 * 4 })
  expect(readdirSync(request.staging_dir)).toEqual([])
})

it.each([
  ['no JSON', '{'],
  ['a zoom range upside down', { zoom_min: 3, zoom_max: 2 }],
  ['a virtual file system', { source_paths: ['/vsicurl/http://127.0.0.1/a.tif'] }],
  ['an unknown field', { sources: [] }],
])('%s is refused with a reason', async (_, changes) => {
  const request = shop.request({ source_paths: [globe] })
  const { code, lines } = await shop.tile(typeof changes === 'string' ? changes : ({ ...request, ...changes } as never))
  expect(code).toBe(1)
  expect(lines).toEqual([{ ...CODED_FAILURE, reason: expect.stringContaining('the request is not') }])
})

describe.runIf(process.platform === 'linux')('a full disk', () => {
  /** Runs the tool with `folder` as a separate disk of so many KiB. */
  async function onSmallDisk(folder: string, kilobytes: number, request: object) {
    const mount = `mount -t tmpfs -o size=${kilobytes}k tmpfs "$0" && exec "$1" "$2"`
    const child = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', mount, folder, process.execPath, MAIN])
    child.stdin.end(JSON.stringify(request))
    return outcomeOf(child)
  }

  it('is predicted if the plan shows it', async () => {
    const disk = shop.folder('small')
    const request = shop.request({ source_paths: [globe], zoom_min: 0, zoom_max: 5, staging_dir: `${disk}/staging` })
    const { code, lines } = await onSmallDisk(disk, 1024, request)
    expect(code).toBe(1)
    expect(lines.at(-1)).toMatchObject({ ok: false, reason: expect.stringContaining('not enough disk space') })
  })

  it('fails with a reason if it is not predicted', async () => {
    // Noise takes several times the space of a picture.
    const noise = {
      width: 1024,
      height: 512,
      channels: 3 as const,
      background: '#000',
      noise: { type: 'gaussian' as const, mean: 128, sigma: 70 },
    }
    await sharp({ create: noise }).png().toFile(shop.path('noise.png'))
    const source = await shop.make('noise.tif', 'gdal_translate', GLOBE_REFERENCE, shop.path('noise.png'))
    const disk = shop.folder('surprise')
    const request = shop.request({
      source_paths: [source],
      zoom_min: 3,
      zoom_max: 3,
      staging_dir: `${disk}/staging`,
      tile_format: 'webp',
    })
    const { code, lines } = await onSmallDisk(disk, 1500, request)
    expect(code).toBe(1)
    expect(lines.at(-1)).toMatchObject({ ok: false, reason: expect.stringContaining('the disk is full') })
  })
})
