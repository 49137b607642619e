import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { importId, isLeftover, removeLeftovers } from './leftovers.js'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leftovers-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('only leftovers of a killed process’s imports are removed', async () => {
  const child = spawn('true')
  await once(child, 'exit')
  const idOf = (host: string, pid: number) => `${host}~${pid}~0a1b2c3d~11111111-2222-3333-4444-555555555555`
  const killed = idOf(os.hostname(), child.pid ?? 0)
  const living = idOf(os.hostname(), process.ppid)
  const left = [
    `.${killed}.spool.tmp`,
    `basemaps/world/.${killed}-1.new.tmp/0/0/0.png`,
    `vectors/a/b/.${killed}-1.new.tmp/b.geojson`,
  ]
  const kept = [
    `.${importId()}.spool.tmp`,
    `.${living}.spool.tmp`,
    `.${idOf('elsewhere', child.pid ?? 0)}.spool.tmp`,
    `basemaps/world/.${importId()}-1.new.tmp/0/0/0.png`,
    'basemaps/world/v1/0/0/0.png',
    'vectors/a/b/b.geojson',
  ]
  for (const file of [...left, ...kept]) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), 'x')
  }
  expect(await removeLeftovers(folder)).toBe(left.length)
  expect(left.filter((file) => fs.existsSync(path.join(folder, file)))).toEqual([])
  expect(kept.filter((file) => !fs.existsSync(path.join(folder, file)))).toEqual([])
  expect(await removeLeftovers(path.join(folder, 'absent'))).toBe(0)
})

test('a process with the same number as the killed one, as in a container, recognizes its leftovers', () => {
  expect(isLeftover(`.${os.hostname()}~${process.pid}~0a1b2c3d~1.spool.tmp`)).toBe(true)
  expect(isLeftover(`.${importId()}.spool.tmp`)).toBe(false)
})
