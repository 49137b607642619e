import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Code of a file whose path has nothing that ASCII letters or digits can represent. */
const NAMELESS = 'vector'
export const MAX_CODE_LENGTH = 180
/** Maximum number of characters of a path that its code is made from. Splitting Chinese into words takes more than linear time. */
const MAX_READ_LENGTH = 2 * MAX_CODE_LENGTH

/** Stands for the code of a source that is tried before it has one: no code begins with a dot, so all known items count as those of other sources. */
export const NO_CODE = '.'

/**
 * Reduces a relative path without its extension to ASCII letters, digits, `-` and `_`. Chinese becomes pinyin without tones, one
 * syllable for each character. Other scripts are transliterated letter by letter, accents are dropped, and separators become `-`.
 */
export function reducedCode(relativePath: string): string {
  const latin = relativePath
    .replace(/\.[^./]*$/, '')
    .slice(0, MAX_READ_LENGTH)
    .normalize('NFKC')
    .replace(/(?<=[A-Za-z0-9])(?=\p{Script=Han})|(?<=\p{Script=Han})(?=[A-Za-z0-9])/gu, ' ')
    .replace(/\p{Script=Han}+/gu, inPinyin)
  const reduced = inAscii(latin.normalize('NFC'))
    .replace(/[\s/.,;+&()[\]]+/g, '-')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, MAX_CODE_LENGTH)
  return reduced === '' ? NAMELESS : reduced
}

/** Loads the tables, which are half a megabyte, with the first path that needs them. */
function inAscii(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text
  const { default: anyAscii } = require('any-ascii') as typeof import('any-ascii')
  return anyAscii(text)
}

/** Loads the dictionaries with the first path in Chinese. */
function inPinyin(text: string): string {
  const { pinyin } = require('pinyin-pro') as typeof import('pinyin-pro')
  return pinyin(text, { toneType: 'none', v: true })
}

/**
 * Assigns a code to each relative path of a source. A path keeps its code, whatever else comes or goes. If the code of a new path is taken, in
 * this source or another, it gets the lowest free numeric suffix. The order of `relativePaths` does not matter.
 * @param known codes of this source's paths, including those of missing vectors
 * @param taken codes of all sources
 */
export function assignCodes(
  relativePaths: readonly string[],
  known: ReadonlyMap<string, string>,
  taken: ReadonlySet<string>,
): Map<string, string> {
  const used = new Set(taken)
  const codes = new Map<string, string>()
  for (const path of [...relativePaths].sort()) {
    const code = known.get(path) ?? firstFree(reducedCode(path), used)
    used.add(code)
    codes.set(path, code)
  }
  return codes
}

/** Returns the code, or the code with the lowest numeric suffix that makes it unused. */
export function firstFree(base: string, used: ReadonlySet<string>): string {
  if (!used.has(base)) return base
  for (let n = 2; ; n++) if (!used.has(`${base}-${n}`)) return `${base}-${n}`
}
