import { closeSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWithin, placeWithin } from './open-within.js'

let dir: string
const at = (name: string) => join(dir, name)
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'open-within-')))
  for (const folder of ['images/a/b', 'more', 'outside/folder']) mkdirSync(at(folder), { recursive: true })
  for (const file of ['images/a/b/x.tif', 'more/y.tif', 'outside/z.tif']) writeFileSync(at(file), 'x')
  symlinkSync(at('images'), at('named'))
  symlinkSync('a/b', at('images/short'))
  symlinkSync('../../images/a', at('images/a/round'))
  symlinkSync(at('more/y.tif'), at('images/other'))
  symlinkSync('../more', at('images/beside'))
  symlinkSync('loop', at('images/loop'))
  symlinkSync(at('outside/z.tif'), at('images/out'))
  symlinkSync(at('outside/nothing'), at('images/out-to-nothing'))
  symlinkSync('../outside', at('images/up'))
})
afterAll(() => rmSync(dir, { recursive: true }))

const roots = () => [at('named'), at('more')]

it.each([
  ['named/a/b/x.tif', 'images/a/b/x.tif'],
  ['images/a/b/x.tif', 'images/a/b/x.tif'],
  ['named/short/x.tif', 'images/a/b/x.tif'],
  ['named/a/round/b/x.tif', 'images/a/b/x.tif'],
  ['named/other', 'more/y.tif'],
  ['named/beside/y.tif', 'more/y.tif'],
  ['outside/../more//./y.tif', 'more/y.tif'],
])('%s is %s', async (name, real) => {
  expect(await placeWithin(roots(), at(name))).toMatchObject({ ok: true, realPath: at(real) })
  const opening = await openWithin(roots(), at(name))
  expect(opening).toMatchObject({ ok: true, realPath: at(real) })
  if (opening.ok) closeSync(opening.fd)
})

it.each([
  ['outside/z.tif', 'outside'],
  ['outside/nothing', 'outside'],
  ['outside/folder', 'outside'],
  ['named/../outside/z.tif', 'outside'],
  ['named/out', 'outside'],
  ['named/out-to-nothing', 'outside'],
  ['named/up/z.tif', 'outside'],
  ['named/up/nothing', 'outside'],
  ['named/nothing', 'absent'],
  ['named/a/b/x.tif/y', 'absent'],
  ['named/loop', 'absent'],
  ['named/a', 'not_a_file'],
])('%s is refused as %s', async (name, reason) => {
  expect(await openWithin(roots(), at(name))).toEqual({ ok: false, reason })
})

it('no file lies in a missing root, and without roots every file may be opened', async () => {
  expect(await openWithin([at('nowhere')], at('nowhere/x.tif'))).toEqual({ ok: false, reason: 'outside' })
  const opening = await openWithin([], at('outside/z.tif'))
  expect(opening.ok).toBe(true)
  if (opening.ok) closeSync(opening.fd)
})
