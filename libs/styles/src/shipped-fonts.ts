import { realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { FontFace } from './fonts.js'

const require = createRequire(import.meta.url)

/** Font files of npm packages (OFL 1.1). Arabic letters include the shapes that MapLibre uses for words. */
const SHIPPED = {
  'Noto Sans Regular': 'noto-sans/400Regular/NotoSans_400Regular.ttf',
  'Noto Sans Bold': 'noto-sans/700Bold/NotoSans_700Bold.ttf',
  'Noto Sans Italic': 'noto-sans/400Regular_Italic/NotoSans_400Regular_Italic.ttf',
  'Noto Sans Arabic Regular': 'noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf',
  'Noto Sans Arabic Bold': 'noto-sans-arabic/700Bold/NotoSansArabic_700Bold.ttf',
} as const

/** A package with ideographs and kana, but without hangul. */
const IDEOGRAPHS = '@fontsource-variable/noto-sans-sc'
/** Weights of that package by name. Noto Sans CJK SC is the same design, which styles name where that package of a system is installed. */
const IDEOGRAPH_WEIGHTS = {
  'Noto Sans SC Regular': 400,
  'Noto Sans SC Bold': 700,
  'Noto Sans CJK SC Regular': 400,
  'Noto Sans CJK SC Bold': 700,
} as const

/** The fonts of every installation. */
export const SHIPPED_FONT_NAMES: readonly string[] = [...Object.keys(SHIPPED), ...Object.keys(IDEOGRAPH_WEIGHTS)]

/** Returns the gateway's fonts. Reads the disk. */
export function shippedFonts(): readonly FontFace[] {
  const own = Object.entries(SHIPPED).map(([name, file]) =>
    outlines(name, require.resolve(`@expo-google-fonts/${file}`)),
  )
  const index = require.resolve(`${IDEOGRAPHS}/unicode.json`)
  const ideographs = Object.entries(IDEOGRAPH_WEIGHTS).map(([name, weight]) => ({
    ...outlines(name, index),
    kind: 'subsets' as const,
    path: dirname(index),
    weight,
  }))
  return [...own, ...ideographs]
}

function outlines(name: string, file: string): FontFace {
  // A package may be a link to another folder, and nothing outside of its folder is read.
  const path = realpathSync(file)
  const { size, mtimeMs } = statSync(path)
  return {
    name,
    kind: 'outlines',
    path,
    root: dirname(path),
    face: null,
    fingerprint: `${name} ${size} ${Math.round(mtimeMs)}`,
  }
}
