import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adoptRun, isPublishing, jobOfRun } from './layer-place.js'

const JOB = '6f1c9bd5-4d1e-4d5c-9a53-111111111111'
const OTHER = '6f1c9bd5-4d1e-4d5c-9a53-222222222222'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'layer-place-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function put(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, 'city', path)), { recursive: true })
    writeFileSync(join(root, 'city', path), path)
  }
}
const adopt = (fence: number) => adoptRun(root, 'city', { id: JOB, owner: 'me', fence })
const now = () => readdirSync(join(root, 'city')).sort()

test('a run takes over the tiles of the newest run of the same job, under its own name, and nothing of other jobs', async () => {
  put(`.staging-${JOB}-2/tiles/5/1/1.webp`, `.staging-${JOB}-2/resume/origin`, `.staging-${JOB}-2/archive/half.pmtiles`)
  put(
    `.staging-${JOB}-10/tiles/5/1/2.webp`,
    `.staging-${JOB}-10/resume/origin`,
    `.staging-${JOB}-10/archive/half.pmtiles`,
  )
  put(`.staging-${OTHER}-3/tiles/0/0/0.webp`, `.staging-${OTHER}-3/resume/origin`, '2026-01-01/0/0/0.webp')
  await adopt(11)
  expect(now()).toEqual([`.staging-${JOB}-11`, '2026-01-01'])
  const run = join(root, 'city', `.staging-${JOB}-11`)
  expect(readdirSync(run).sort()).toEqual(['resume', 'tiles'])
  expect(readFileSync(join(run, 'tiles/5/1/2.webp'), 'utf8')).toContain('-10/')
  expect(isPublishing({ runDir: run })).toBe(false)
})

test('a run that had begun to publish keeps the layer that it had unpacked, and loses half an archive', async () => {
  const run = `.staging-${JOB}-1`
  put(
    `${run}/tiles/5/1/1.webp`,
    `${run}/resume/origin`,
    `${run}/layer/5/1/2.webp`,
    `${run}/archive/half`,
    `${run}/publishing`,
  )
  await adopt(2)
  const runDir = join(root, 'city', `.staging-${JOB}-2`)
  expect(readdirSync(runDir).sort()).toEqual(['layer', 'publishing', 'resume', 'tiles'])
  expect(isPublishing({ runDir })).toBe(true)
})

test('what a version before this one left is removed: its tiles are in no record', async () => {
  put(`.staging-${JOB}-1/5/1/1.webp`)
  await adopt(2)
  expect(now()).toEqual([])
  await adoptRun(root, 'not-there', { id: JOB, owner: 'me', fence: 2 })
})

test('a folder of a run names its job, and no other folder does', () => {
  expect(jobOfRun(`.staging-${JOB}-12`)).toBe(JOB)
  for (const name of [`.staging-removed-${JOB}`, '.staging-x-1', JOB, '2026-01-01']) expect(jobOfRun(name)).toBeNull()
})
