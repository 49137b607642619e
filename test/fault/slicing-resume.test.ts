import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const GLOBE = fileURLToPath(new URL('../../services/tools/demo-data/imagery/blue-marble.jpg', import.meta.url))
/** A band around the equator, since the whole globe has four times as many tiles in as many blocks. */
const PLACE = ['-a_srs', 'EPSG:4326', '-a_ullr', '-180', '40', '180', '-40']

/** At this zoom the picture takes four blocks of 4,096 pixels. */
const ZOOM_MAX = 5

const gateway = useGateway({}, async (started) => {
  await promisify(execFile)('gdal_translate', ['-q', '-of', 'GTiff', ...PLACE, GLOBE, join(started.home, 'globe.tif')])
})

const layerOf = (code: string) => join(gateway().dataDir, 'layers', code)

const kill = (code: string) => restartAfter(() => gateway().controlPlane.process.kill(), code)
const stop = (code: string) => restartAfter(drain, code)

test.each([
  ['control plane is killed', 'folder', kill],
  ['control plane is drained', 'folder', stop],
  ['control plane is killed', 'pmtiles', kill],
  ['tiling tool is killed', 'folder', killTool],
] as const)(
  'a job whose %s goes on with its finished blocks, and its %s has the very bytes of one that ran through',
  { timeout: 240_000 },
  async (how, output, end) => {
    gateway().allowErrors(/ECONN|connect|terminat|slic/i)
    const code = `${how.replaceAll(' ', '-')}-${output}`
    const whole = `whole-${output}`
    if (!existsSync(layerOf(whole))) expect((await untilEnded(await submit(whole, output))).status).toBe('succeeded')
    const id = await submit(code, output)
    while (finishedBlocks(code) === 0) await sleep(50)
    await end(code)
    const job = await untilEnded(id)
    expect([job.status, job.message]).toEqual(['succeeded', ''])
    expect(await readFile(job.log_path, 'utf8')).toMatch(/going on with [1-4] finished blocks/)
    expect(filesOf(code)).toEqual(filesOf(whole))
    expect(readdirSync(layerOf(code)).filter((name) => name.startsWith('.'))).toEqual([])
  },
)

async function restartAfter(end: () => Promise<unknown>, code: string): Promise<void> {
  await end()
  expect(filesOf(code)).toEqual({})
  gateway().controlPlane.process.start()
  await gateway().ready()
}

/** Kills the tiling tool, as the kernel does if memory is short. */
function killTool(): void {
  const control = gateway().controlPlane.process.pid
  const children = readFileSync(`/proc/${control}/task/${control}/children`, 'utf8').trim().split(' ').map(Number)
  const tools = children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('tiler'))
  expect(tools).toHaveLength(1)
  for (const pid of tools) process.kill(pid, 'SIGKILL')
}

async function drain(): Promise<void> {
  gateway().controlPlane.process.signal('SIGTERM')
  expect(await gateway().controlPlane.process.ended()).toMatchObject({ code: 0 })
}

async function submit(code: string, output: string): Promise<string> {
  const body = { target_code: code, source_paths: [join(gateway().home, 'globe.tif')], zoom_max: ZOOM_MAX, output }
  return (await gateway().admin.expect<SliceJob>('/slice/jobs', { body })).id
}

/** Counts the finished blocks of the run that is under way. */
function finishedBlocks(code: string): number {
  const layer = layerOf(code)
  const runs = existsSync(layer) ? readdirSync(layer).filter((name) => name.startsWith('.staging-')) : []
  return runs.flatMap((run) => {
    const notes = join(layer, run, 'resume')
    return existsSync(notes) ? readdirSync(notes).filter((name) => /^\d+-\d+$/.test(name)) : []
  }).length
}

/** The files of a layer that is served, with what is in them. */
function filesOf(code: string): Record<string, string> {
  const layer = layerOf(code)
  const entries = readdirSync(layer, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const served = entries.map(({ parentPath, name }) => join(parentPath, name).slice(layer.length + 1))
  return Object.fromEntries(
    served
      .filter((name) => !name.startsWith('.'))
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(layer, name)))
          .digest('hex'),
      ]),
  )
}

async function untilEnded(id: string): Promise<SliceJob> {
  for (;;) {
    const job = await gateway().admin.expect<SliceJob>(`/slice/jobs/${id}`)
    if (job.status === 'succeeded' || job.status === 'failed') return job
    await sleep(100)
  }
}
