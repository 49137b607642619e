import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundleOf } from './bundle-of.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bundle-of-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const bundle = (file: string) => join(root, 'node_modules/.bundles/0a1b', file)

test('a bundled process starts bundles, and a compiled file that has none', () => {
  const own = bundle('services/edge/dist/main.js')
  mkdirSync(dirname(own), { recursive: true })
  writeFileSync(bundle('services/edge/dist/worker.js'), '')
  expect(bundleOf(join(root, 'services/edge/dist/worker.js'), own)).toBe(bundle('services/edge/dist/worker.js'))
  const without = join(root, 'services/edge/dist/other.js')
  expect(bundleOf(without, own)).toBe(without)
})

test('a process that is not bundled starts compiled files', () => {
  mkdirSync(bundle('services/edge/dist'), { recursive: true })
  writeFileSync(bundle('services/edge/dist/worker.js'), '')
  const worker = join(root, 'services/edge/dist/worker.js')
  expect(bundleOf(worker, join(root, 'services/edge/dist/main.js'))).toBe(worker)
})
