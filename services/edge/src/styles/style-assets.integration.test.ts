import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createLog, type Log } from '@gateway/core/logging/log.js'
import type { ServedFont, StoredStyle } from '@gateway/store/styles.js'
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
  // It is not tried again.
  expect(await hasLetter(assets.range(catalog, ['Endless'], 256, 'a'), 0x100)).toBe(true)
})

test('a sprite that cannot be drawn is refused with the reason, and not tried again by the next process', async () => {
  const icons = path.join(folder, 'many/icons')
  await mkdir(icons, { recursive: true })
  const names = Array.from({ length: 17 }, (_, i) => `i${i}`)
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512"><rect width="9" height="9"/></svg>'
  for (const name of names) await writeFile(path.join(icons, `${name}.svg`), svg)
  const sprite = { name: 'icons', path: icons, kind: 'drawings', doubled: true, icons: names } as const
  const stored = { code: 'many', sourcePath: folder, fingerprint: 'one' } as StoredStyle
  const refused = { ok: false, reason: expect.stringContaining('4456448 pixels') }
  expect(await assets.drawnSprite(stored, sprite, 1, 'a')).toMatchObject(refused)
  // Without its drawings, another attempt would make an empty sprite.
  await rm(icons, { recursive: true })
  const next = new StyleAssets(path.join(folder, 'kept'), log, new DiskGate({ log, threads: 4 }), LIMIT_MS)
  expect(await next.drawnSprite(stored, sprite, 1, 'b')).toMatchObject(refused)
  // Other content is.
  const changed = { ...stored, fingerprint: 'two' }
  expect(await next.drawnSprite(changed, sprite, 1, 'b')).toMatchObject({ ok: true })
  next.close()
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
