import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { publishStaged } from './publish.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tiler-publish-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function write(folder: string, files: Record<string, string>): string {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  return join(dir, folder)
}

function content(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}

const STAGED = { '0/0/0.webp': 'new', '1/0/1.webp': 'new', '1/1/1.webp': 'new', 'metadata.json': 'new' }

it('a new layer appears with one rename', async () => {
  const staging = write('staging', STAGED)
  expect(await publishStaged(staging, join(dir, 'layers', 'a', '1'))).toBe(0)
  expect(content(join(dir, 'layers', 'a', '1'))).toEqual(STAGED)
  expect(existsSync(staging)).toBe(false)
})

it('an empty folder does not count as a layer', async () => {
  mkdirSync(join(dir, 'layer'))
  await publishStaged(write('staging', STAGED), join(dir, 'layer'))
  expect(content(join(dir, 'layer'))).toEqual(STAGED)
})

it('new tiles replace old ones and leave the rest', async () => {
  const layer = write('layer', {
    '0/0/0.webp': 'old',
    '1/0/0.webp': 'old',
    '1/1/1.webp': 'old',
    'metadata.json': 'old',
  })
  const staging = write('staging', STAGED)
  expect(await publishStaged(staging, layer)).toBe(3)
  expect(content(layer)).toEqual({ ...STAGED, '1/0/0.webp': 'old' })
  expect(existsSync(staging)).toBe(false)
})

it('another call completes an interrupted one, and one more changes nothing', async () => {
  const layer = write('layer', { '0/0/0.webp': 'old', '1/0/1.webp': 'new', 'metadata.json': 'old' })
  const staging = write('staging', { '0/0/0.webp': 'new', '1/1/1.webp': 'new', 'metadata.json': 'new' })
  mkdirSync(join(staging, '1/0'))
  expect(await publishStaged(staging, layer)).toBe(2)
  expect(await publishStaged(staging, layer)).toBe(0)
  expect(content(layer)).toEqual(STAGED)
})

it('a failed move is an error, and files that were not moved stay staged', async () => {
  const layer = write('layer', { '1': 'a file in the place of a zoom' })
  const staging = write('staging', STAGED)
  await expect(publishStaged(staging, layer)).rejects.toThrow()
  expect(Object.keys(content(staging))).toContain('metadata.json')
  expect(Object.keys(content(staging))).toContain('0/0/0.webp')
})
