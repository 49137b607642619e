import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { type FontFace, looksOf } from './fonts.js'

const require = createRequire(import.meta.url)

/** Font files of npm packages (OFL 1.1). Arabic letters include the shapes that MapLibre uses for words. */
const SHIPPED = {
  'Noto Sans Regular': 'noto-sans/400Regular/NotoSans_400Regular.ttf',
  'Noto Sans Bold': 'noto-sans/700Bold/NotoSans_700Bold.ttf',
  'Noto Sans Italic': 'noto-sans/400Regular_Italic/NotoSans_400Regular_Italic.ttf',
  'Noto Sans Arabic Regular': 'noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf',
  'Noto Sans Arabic Bold': 'noto-sans-arabic/700Bold/NotoSansArabic_700Bold.ttf',
} as const

/** The fonts of every installation. */
export const SHIPPED_FONT_NAMES: readonly string[] = Object.keys(SHIPPED)

/** Folders in which Debian's fonts-noto-cjk and other distributions install fonts with ideographs. */
const CJK_FOLDERS = ['/usr/share/fonts/opentype/noto', '/usr/share/fonts/noto-cjk', '/usr/share/fonts/google-noto-cjk']
const CJK = {
  'Noto Sans CJK SC Regular': ['NotoSansCJK-Regular.ttc', 'NotoSansCJKsc-Regular'],
  'Noto Sans CJK SC Bold': ['NotoSansCJK-Bold.ttc', 'NotoSansCJKsc-Bold'],
} as const

/** Returns the fonts of the gateway, and those with ideographs if the system has them. Reads the disk. */
export function shippedFonts(): readonly FontFace[] {
  const own = Object.entries(SHIPPED).map(([name, file]) =>
    outlines(name, require.resolve(`@expo-google-fonts/${file}`), null),
  )
  const ideographs = Object.entries(CJK).flatMap(([name, [file, face]]) => {
    const path = CJK_FOLDERS.map((folder) => `${folder}/${file}`).find((candidate) => existsSync(candidate))
    return path === undefined ? [] : [outlines(name, path, face)]
  })
  return [...own, ...ideographs]
}

function outlines(name: string, path: string, face: string | null): FontFace {
  const { size, mtimeMs } = statSync(path)
  return {
    name,
    kind: 'outlines',
    path,
    root: dirname(path),
    face,
    fingerprint: `${name} ${size} ${Math.round(mtimeMs)}`,
  }
}

/**
 * Returns the fonts behind every stack, so that no label is lost: a Noto Sans similar to the first font of the stack, then the others,
 * then those with Arabic letters and ideographs.
 */
export function fallbackNames(first: string): readonly string[] {
  const { bold, italic } = looksOf(first)
  const best = bold ? 'Noto Sans Bold' : italic ? 'Noto Sans Italic' : 'Noto Sans Regular'
  const others = ['Noto Sans Arabic', 'Noto Sans CJK SC'].flatMap((name) =>
    bold ? [`${name} Bold`, `${name} Regular`] : [`${name} Regular`],
  )
  return [...new Set([best, 'Noto Sans Regular', ...others])]
}
