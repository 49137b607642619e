import { existsSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { SCRIPTS } from './fallback-fonts.js'
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

/** The fonts of every installation. */
export const SHIPPED_FONT_NAMES: readonly string[] = Object.keys(SHIPPED)

/** Folders of Debian's fonts-noto-cjk and fonts-noto-core, and of other distributions. */
const SYSTEM_FOLDERS = ['opentype/noto', 'truetype/noto', 'noto-cjk', 'google-noto-cjk', 'noto', 'google-noto'].map(
  (folder) => `/usr/share/fonts/${folder}`,
)
const WEIGHTS = ['Regular', 'Bold'] as const
/** Font files that the system may have, with the face in a collection. */
const SYSTEM: readonly (readonly [name: string, file: string, face: string | null])[] = [
  ...Object.keys(SCRIPTS).flatMap((script) =>
    WEIGHTS.map((weight) => [`Noto Sans ${script} ${weight}`, `NotoSans${script}-${weight}.ttf`, null] as const),
  ),
  ...WEIGHTS.map(
    (weight) => [`Noto Sans CJK SC ${weight}`, `NotoSansCJK-${weight}.ttc`, `NotoSansCJKsc-${weight}`] as const,
  ),
]

/** Returns the gateway's fonts, and the system's fonts for further scripts and ideographs. Reads the disk. */
export function shippedFonts(): readonly FontFace[] {
  const own = Object.entries(SHIPPED).map(([name, file]) =>
    outlines(name, require.resolve(`@expo-google-fonts/${file}`), null),
  )
  const others = SYSTEM.flatMap(([name, file, face]) => {
    const path = SYSTEM_FOLDERS.map((folder) => `${folder}/${file}`).find((candidate) => existsSync(candidate))
    return path === undefined ? [] : [outlines(name, path, face)]
  })
  return [...own, ...others]
}

function outlines(name: string, file: string, face: string | null): FontFace {
  // The system may link to it from another folder, and nothing outside of its own is read.
  const path = realpathSync(file)
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
