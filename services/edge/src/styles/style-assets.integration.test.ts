import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createLog } from '@gateway/core/logging/log.js'
import type { FontFace } from '@gateway/styles/fonts.js'
import { readGlyphRange } from '@gateway/styles/glyph-range.js'
import { endlessFont } from '@gateway/styles/testing/hostile-fonts.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DiskGate } from '../files/disk-gate.js'
import { EMPTY_CATALOG } from '../sync/catalog.js'
import { StyleAssets } from './style-assets.js'

/** Enough for the other font on a busy machine. */
const LIMIT_MS = 4000
const LETTER_A = 65
const log = createLog('edge', 'silent')

let folder: string
let assets: StyleAssets
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'style-assets-'))
  await writeFile(path.join(folder, 'endless.ttf'), endlessFont())
  assets = new StyleAssets(path.join(folder, 'kept'), log, new DiskGate({ log, threads: 4 }), LIMIT_MS)
})
afterAll(async () => {
  assets.close()
  await rm(folder, { recursive: true, force: true })
})

test('a font whose glyphs never end is given up, and the letters come from the next font', async () => {
  const endless: FontFace = {
    name: 'Endless',
    kind: 'outlines',
    path: path.join(folder, 'endless.ttf'),
    root: folder,
    face: null,
    fingerprint: 'one',
  }
  const catalog = { ...EMPTY_CATALOG, fonts: [endless] }
  const first = assets.range(catalog, ['Endless'], 0, 'a')
  // It waits for the same thread, and is built with another one.
  const next = assets.range(catalog, ['Noto Sans Bold'], 0, 'a')
  const hasLetter = async (range: Promise<{ readonly plain: Buffer }>, id: number) =>
    readGlyphRange((await range).plain, id - (id % 256)).has(id)
  expect([await hasLetter(first, LETTER_A), await hasLetter(next, LETTER_A)]).toEqual([true, true])
  // Further ranges of it are not tried for a while.
  expect(await hasLetter(assets.range(catalog, ['Endless'], 256, 'a'), 0x100)).toBe(true)
})
