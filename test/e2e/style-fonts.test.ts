import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readGlyphRange } from '@gateway/styles/glyph-range.js'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { MAPLIBRE, useClientPages } from '../clients/pages.js'
import { useGateway } from '../harness/use-gateway.js'

const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
const SUBSETS = fileURLToPath(new URL('../../libs/styles/src/testing/', import.meta.url))
const NOTO = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf')
/** The one ideograph of the subsets: another shape in Japanese than in Chinese. */
const BONE = 0x9aa8
const BONE_RANGE = '39424-39679'

/** Conjuncts, a reordered vowel sign, and marks that are written after their letters. */
const LABELS = ['नई दिल्ली', 'क्षेत्र स्थिति', 'Việt Nam', 'Z̃a̋grẽb']
const STYLE = {
  version: 8,
  glyphs: 'gateway://fonts',
  'font-faces': { 'Noto Sans Regular': [{ url: 'files/noto.ttf', 'unicode-range': ['U+0000-0FFF', 'U+1E00-1EFF'] }] },
  sources: {
    labels: {
      type: 'geojson',
      data: {
        type: 'FeatureCollection',
        features: LABELS.map((name, i) => ({
          type: 'Feature',
          properties: { name: name.normalize('NFD') },
          geometry: { type: 'Point', coordinates: [0, 45 - 30 * i] },
        })),
      },
    },
  },
  layers: [
    {
      id: 'labels',
      type: 'symbol',
      source: 'labels',
      layout: { 'text-field': ['get', 'name'], 'text-font': ['Noto Sans Regular'], 'text-size': 40 },
    },
  ],
}

const gateway = useGateway({}, async ({ home, admin }) => {
  const place = async (from: string, to: string) => {
    await mkdir(join(home, 'styles', to, '..'), { recursive: true })
    await copyFile(from, join(home, 'styles', to))
  }
  await place(join(SUBSETS, 'noto-sans-sc-subset.otf'), 'fonts/Chinese/subset.otf')
  await place(join(SUBSETS, 'noto-sans-jp-sc-subset.ttc'), 'fonts/Japanese/subset.ttc')
  await place(NOTO, 'indic/files/noto.ttf')
  await mkdir(join(home, 'styles/fonts/Broken'))
  await writeFile(join(home, 'styles/fonts/Broken/font.ttf'), '<html>not found</html>')
  await writeFile(join(home, 'styles/indic/style.json'), JSON.stringify(STYLE))
  await admin.scanSource('styles', 'style', join(home, 'styles'))
  await mkdir(ARTIFACTS, { recursive: true })
})
const openClient = useClientPages({ maplibre: MAPLIBRE })

test('ranges come out of .otf and .ttc files, and a file that is no font is in the warnings', async () => {
  const { token } = await gateway().issueToken({})
  const boneOf = async (stack: string) => {
    const answer = await fetch(`${gateway().url}/fonts/${stack}/${BONE_RANGE}.pbf?token=${token}`)
    return readGlyphRange(new Uint8Array(await answer.arrayBuffer()), 39424).get(BONE)
  }
  const [chinese, japanese, merged] = [await boneOf('Chinese'), await boneOf('Japanese'), await boneOf('Gone,Japanese')]
  expect(chinese).toMatchObject({ id: BONE, advance: 24 })
  expect(japanese?.bitmap).not.toEqual(chinese?.bitmap)
  expect(merged).toEqual(japanese)
  const { last_scan: scan } = await gateway().admin.expect<{ last_scan: { message: string } }>('/scan-sources/styles')
  expect(scan.message).toMatch(/"fonts\/Broken\/font\.ttf" cannot be used as a font/)
})

test('a style draws Devanagari and combining marks from a font file of its folder, on any device', async () => {
  const { token } = await gateway().issueToken({})
  const { page } = await openClient('maplibre')
  const loaded: string[] = []
  page.on('response', (answer) => {
    const { pathname } = new URL(answer.url())
    if (pathname.endsWith('.ttf') || pathname.startsWith('/fonts/')) loaded.push(`${answer.status()} ${pathname}`)
  })
  await page.evaluate(`(async () => {
    const maplibregl = await import('./maplibre-gl.mjs')
    window.drawn = new maplibregl.Map({ container: 'map', center: [0, 0], zoom: 0.9, fadeDuration: 0, attributionControl: false,
      style: '${gateway().url}/styles/indic/style.json?token=${token}' })
    await drawn.once('idle')
  })()`)
  const picture = await page.screenshot()
  await writeFile(join(ARTIFACTS, 'style-fonts.png'), picture)
  // Every character is in the file, so that no glyph range is asked for.
  expect(loaded).toEqual(['200 /styles/indic/files/noto.ttf'])
  const file = await fetch(`${gateway().url}/styles/indic/files/noto.ttf?token=${token}`)
  expect(file.headers.get('content-type')).toBe('font/ttf')
  expect(file.headers.get('access-control-allow-origin')).toBe('*')
  expect(Buffer.from(await file.arrayBuffer()).equals(await readFile(NOTO))).toBe(true)
  const { dominant, channels } = await sharp(picture).stats()
  expect(dominant).toMatchObject({ r: 248 })
  expect(channels[0]?.min).toBeLessThan(60)
})
