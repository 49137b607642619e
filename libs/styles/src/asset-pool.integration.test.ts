import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AssetTask, assetPool, drawingsTask } from './asset-pool.js'
import { readGlyphRange } from './glyph-range.js'
import { HOSTILE_DRAWINGS } from './testing/hostile-drawings.js'
import { HOSTILE_FONTS } from './testing/hostile-fonts.js'

/** Enough for an honest font or drawing on a busy machine. */
const STEP_MS = 2000
const LETTER_A = 65
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="6"><rect width="10" height="6"/></svg>'

const root = mkdtempSync(join(tmpdir(), 'asset-pool-'))
const pool = assetPool(1, STEP_MS)
afterAll(() => {
  pool.close()
  rmSync(root, { recursive: true })
})
beforeAll(() => {
  for (const folder of ['fonts', 'good', 'made']) mkdirSync(join(root, folder))
  writeFileSync(join(root, 'good/stop.svg'), ICON)
})

const run = (key: string, task: AssetTask) => pool.run(key, task, 'a')

const sprite = (folder: string, names: readonly string[], ratio: 1 | 2 = 1, by = run) =>
  drawingsTask((without) =>
    by(`${folder} ${ratio} ${without.size}`, {
      kind: 'sprite',
      root,
      folder: join(root, folder),
      names: names.filter((name) => !without.has(name)),
      ratio,
      json: join(root, 'made/sprite.json'),
      png: join(root, 'made/sprite.png'),
    }),
  )
const madeIndex = () => JSON.parse(readFileSync(join(root, 'made/sprite.json'), 'utf8')) as Record<string, object>

test.each(Object.entries(HOSTILE_FONTS))('a font with %s is refused with a reason', async (name, make) => {
  const path = join(root, 'fonts', 'font.ttf')
  writeFileSync(path, make())
  const checked = await run(name, { kind: 'check font', root, path }).catch((error: Error) => {
    expect(error.name).toBe('TaskEnded')
    return { ok: false, reason: error.message }
  })
  expect(checked).toMatchObject({ ok: false, reason: expect.stringMatching(/^it/) })
})

test.each(Object.entries(HOSTILE_DRAWINGS))(
  'a drawing with %s does not keep the others from a sprite',
  async (name, make) => {
    const folder = join(root, 'drawings')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'bad.svg'), make())
    writeFileSync(join(folder, 'stop.svg'), ICON)
    const outcome = await sprite('drawings', ['bad', 'stop'])
    expect(outcome, name).toMatchObject({ ok: true })
    expect(madeIndex()).toMatchObject({ stop: { width: 10, height: 6, pixelRatio: 1 } })
  },
)

test('a sprite has its drawings at their places, at both ratios', async () => {
  writeFileSync(join(root, 'good/tall.svg'), ICON.replace('height="6"', 'height="20"'))
  expect(await sprite('good', ['stop', 'tall'], 2)).toEqual({ ok: true, leftOut: [] })
  expect(madeIndex()).toEqual({
    tall: { x: 0, y: 0, width: 20, height: 40, pixelRatio: 2 },
    stop: { x: 20, y: 0, width: 20, height: 12, pixelRatio: 2 },
  })
  const { data, info } = await sharp(join(root, 'made/sprite.png')).raw().toBuffer({ resolveWithObject: true })
  const alpha = (x: number, y: number) => data[(y * info.width + x) * info.channels + 3]
  expect([info.width, info.height, alpha(5, 5), alpha(25, 5), alpha(25, 30)]).toEqual([40, 40, 255, 255, 0])
})

test('drawings of a too large area are not drawn, with the area', async () => {
  const folder = join(root, 'many')
  mkdirSync(folder)
  const names = Array.from({ length: 250 }, (_, i) => `i${i}`)
  for (const name of names)
    writeFileSync(join(folder, `${name}.svg`), ICON.replace('width="10" height="6"', 'width="512" height="512"'))
  const outcome = await sprite('many', names, 2)
  expect(outcome).toMatchObject({ ok: false, mayPass: false, reason: expect.stringContaining('65536000 pixels') })
})

test('a sprite with many bad drawings is given up, and names them', async () => {
  const folder = join(root, 'slow')
  mkdirSync(folder)
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const name of names) writeFileSync(join(folder, `${name}.svg`), HOSTILE_DRAWINGS['wide filters']?.() ?? '')
  // Nothing honest is drawn here, so the limit may be short.
  const impatient = assetPool(1, 300)
  const outcome = await sprite('slow', names, 1, (key, task) => impatient.run(key, task, 'a'))
  impatient.close()
  expect(outcome).toMatchObject({ ok: false, reason: expect.stringMatching(/^a\.svg: .*; d\.svg: /) })
})

test('links that lead out of the source are followed neither to a drawing nor to a font', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'asset-pool-outside-'))
  try {
    writeFileSync(join(outside, 'x.svg'), ICON)
    mkdirSync(join(root, 'swap'))
    symlinkSync(join(outside, 'x.svg'), join(root, 'swap/x.svg'))
    expect(await sprite('swap', ['x'])).toEqual({
      ok: true,
      leftOut: [{ name: 'x', reason: 'it is a link that leads out of the source' }],
    })
    const font = { name: 'X', root, path: join(root, 'swap/x.svg'), face: null, fingerprint: '1' }
    for (const kind of ['outlines', 'ranges'] as const) {
      symlinkSync(outside, join(root, `swap/${kind}`))
      const kept = kind === 'outlines' ? join(root, 'made/x.pbf') : null
      writeFileSync(join(outside, '0-255.pbf'), '')
      const path = kind === 'outlines' ? font.path : join(root, 'swap/ranges')
      const made = await run(kind, { kind: 'range', name: 'X', first: 0, fonts: [{ ...font, path, kind, kept }] })
      expect(made).toMatchObject({ ok: true, leftOut: [{ name: 'X', reason: expect.stringContaining('link') }] })
    }
  } finally {
    rmSync(outside, { recursive: true })
  }
})

test('a font that hangs ends with its name, and the others of the stack make the range', async () => {
  const path = join(root, 'fonts', 'endless.ttf')
  writeFileSync(path, HOSTILE_FONTS['glyphs whose drawing never ends']?.() ?? '')
  const font = {
    name: 'Endless',
    kind: 'outlines',
    root,
    path,
    face: null,
    fingerprint: '1',
    kept: join(root, 'made/e.pbf'),
  } as const
  const task = { kind: 'range', name: 'Endless', first: 0 } as const
  await expect(run('endless', { ...task, fonts: [font] })).rejects.toMatchObject({ name: 'TaskEnded', at: 'Endless' })
  const made = await run('none', { ...task, fonts: [] })
  // The shipped fonts, or a box, stand in for glyphs that no font of the stack has.
  expect(made.ok && readGlyphRange(made.plain, 0).has(LETTER_A)).toBe(true)
})
