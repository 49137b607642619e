import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Landing, land, prepareLanding } from './landing.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'landing-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function write(name: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
  writeFileSync(path.join(root, name), text)
}

const read = (name: string) => readFileSync(path.join(root, name), 'utf8')

async function stage(landing: Omit<Landing, 'root'>, files: Readonly<Record<string, string>>, turn = 1) {
  const prepared = await prepareLanding({ root, ...landing }, 'id', turn)
  for (const [name, text] of Object.entries(files))
    write(path.relative(root, path.join(prepared.stage.folder, name)), text)
  return prepared
}

test('a folder replaces the existing one with all its content', async () => {
  write('world/v1/0/0/0.png', 'old')
  write('world/v1/9/9/9.png', 'old')
  write('world/v2/0/0/0.png', 'other')
  const landing = await stage({ kind: 'folder', place: 'world/v1' }, { '0/0/0.png': 'new' })
  expect(read('world/v1/0/0/0.png')).toBe('old')
  await land(landing, ['0/0/0.png'])
  expect(read('world/v1/0/0/0.png')).toBe('new')
  expect(readdirSync(path.join(root, 'world')).sort()).toEqual(['v1', 'v2'])
  expect(readdirSync(path.join(root, 'world/v1'))).toEqual(['0'])
})

test('a version in another storage is replaced, another version is not', async () => {
  for (const name of ['v1.mbtiles', 'v10.mbtiles', 'v1.x.pmtiles']) write(`world/${name}`, 'old')
  await land(await stage({ kind: 'folder', place: 'world/v1' }, { '0/0/0.png': 'a' }), ['0/0/0.png'])
  expect(readdirSync(path.join(root, 'world')).sort()).toEqual(['v1', 'v1.x.pmtiles', 'v10.mbtiles'])
  await land(await stage({ kind: 'files', place: 'world/v1.pmtiles' }, { 'v1.pmtiles': 'b' }), ['v1.pmtiles'])
  expect(readdirSync(path.join(root, 'world')).sort()).toEqual(['v1.pmtiles', 'v1.x.pmtiles', 'v10.mbtiles'])
})

test('a shapefile replaces its parts, including those that it no longer has, and leaves its neighbours', async () => {
  for (const name of ['lakes.shp', 'lakes.cpg', 'lakes.txt', 'rivers.shp']) write(name, 'old')
  const names = ['lakes.dbf', 'lakes.shp']
  await land(await stage({ kind: 'files', place: 'lakes.shp' }, { 'lakes.dbf': 'new', 'lakes.shp': 'new' }), names)
  expect(readdirSync(root).sort()).toEqual(['lakes.dbf', 'lakes.shp', 'lakes.txt', 'rivers.shp'])
})

test('leftovers of a dead attempt are removed by the next one, and a folder that was moved away is restored', async () => {
  write('world/.id-1.new.tmp/0/0/0.png', 'half')
  write('world/.id-1.old.tmp/0/0/0.png', 'old')
  write('world/.other-1.new.tmp/0/0/0.png', 'of somebody else')
  await stage({ kind: 'folder', place: 'world/v1' }, {}, 2)
  expect(read('world/v1/0/0/0.png')).toBe('old')
  expect(readdirSync(path.join(root, 'world')).sort()).toEqual(['.other-1.new.tmp', 'v1'])
})

test.each(['../x', 'a/../../x', 'a//b', './a', '/etc/x'])('the path %s is invalid', async (place) => {
  await expect(prepareLanding({ root, kind: 'files', place }, 'id', 1)).rejects.toThrow('cannot be used as a path')
})

test('no folder is created behind a link that leads out of the root', async () => {
  const elsewhere = mkdtempSync(path.join(tmpdir(), 'elsewhere-'))
  symlinkSync(elsewhere, path.join(root, 'world'))
  await expect(prepareLanding({ root, kind: 'folder', place: 'world/deep/v1' }, 'id', 1)).rejects.toThrow('link')
  expect(existsSync(path.join(elsewhere, 'deep'))).toBe(false)
  rmSync(elsewhere, { recursive: true })
})
