import { looksOf } from './fonts.js'

/**
 * Scripts that Noto Sans lacks, each with a separate font, by the first code points of the ranges for which that font has glyphs. MapLibre draws
 * further scripts, such as Thai, with a font of the device.
 */
export const SCRIPTS: Readonly<Record<string, readonly number[]>> = {
  Hebrew: [0x500, 0xfb00],
  Armenian: [0x500, 0xfb00],
  Georgian: [0x1000, 0x1c00, 0x2d00],
  Ethiopic: [0x1200, 0x1300, 0x2d00, 0xab00],
  Symbols: [0x2000, 0x2100, 0x2200, 0x2300, 0x2400, 0x2600, 0x2700, 0x2900],
  Symbols2: [0x2100, 0x2300, 0x2500, 0x2600, 0x2700, 0x2800, 0x2900, 0x2b00],
  Math: [0x2100, 0x2200, 0x2300, 0x2500, 0x2700, 0x2900, 0x2a00, 0x2b00],
}

/**
 * Returns the fallback fonts of a stack, so that no label is lost: a Noto Sans that looks like the first font of the stack, then those of other
 * scripts, and finally the one with ideographs, which also has Latin letters.
 * @param range the first code point of the range
 */
export function fallbackNames(font: string, range: number): readonly string[] {
  const { bold, italic } = looksOf(font)
  const best = bold ? 'Noto Sans Bold' : italic ? 'Noto Sans Italic' : 'Noto Sans Regular'
  const scripts = Object.keys(SCRIPTS).filter((script) => SCRIPTS[script]?.includes(range))
  const others = ['Arabic', ...scripts, 'CJK SC'].flatMap((script) => {
    const name = `Noto Sans ${script}`
    return bold ? [`${name} Bold`, `${name} Regular`] : [`${name} Regular`]
  })
  return [...new Set([best, 'Noto Sans Regular', ...others])]
}
