import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createLog, type Log } from '@gateway/core/logging/log.js'
import type { ServedFont } from '@gateway/store/styles.js'
import { missingFrom } from '@gateway/styles/fallback-fonts.js'
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
  const endless: ServedFont = {
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

test('ideographs of bold labels come from the gateway', async () => {
  const own = new StyleAssets(path.join(folder, 'ideographs'), log, new DiskGate({ log, threads: 4 }))
  const { plain } = await own.range(EMPTY_CATALOG, ['Anything Bold'], 0x4e00, 'a')
  const glyphs = readGlyphRange(plain, 0x4e00)
  expect(glyphs.get(0x4e2d)).toMatchObject({ advance: 24 })
  expect(missingFrom(glyphs, 0x4e00)).toEqual([])
  own.close()
})

test('no character of a script is left out: what no font has is a box, which is counted, and named once in the log', async () => {
  const named: object[] = []
  const listening = { ...log, warn: (detail: object) => named.push(detail) } as unknown as Log
  const own = new StyleAssets(path.join(folder, 'boxes'), listening, new DiskGate({ log, threads: 4 }))
  // Vai, which few systems have a font for.
  const first = 0xa500
  for (const stack of [['Noto Sans Regular'], ['Noto Sans Bold']]) {
    const { plain } = await own.range(EMPTY_CATALOG, stack, first, 'a')
    expect(missingFrom(readGlyphRange(plain, first), first)).toEqual([])
  }
  expect(named).toEqual(own.missingGlyphs === 0 ? [] : [expect.objectContaining({ range: '42240-42495' })])
  own.close()
})
