import { createRequire } from 'node:module'
import anyAscii from 'any-ascii'

const require = createRequire(import.meta.url)

/** A file whose path has nothing that could be written in ASCII letters or digits. */
const NAMELESS = 'vector'
const MAX_CODE_LENGTH = 180
/** Limit: characters of a path that its code is made of. Splitting Chinese into words takes more than linear time. */
const MAX_READ_LENGTH = 2 * MAX_CODE_LENGTH

/**
 * A relative path without its extension, reduced to ASCII letters, digits, `-` and `_`: Chinese is written in pinyin without tones, a
 * syllable for each character, other scripts letter by letter, accents are dropped, and separators become `-`.
 */
export function reducedCode(relativePath: string): string {
  const latin = relativePath
    .replace(/\.[^./]*$/, '')
    .slice(0, MAX_READ_LENGTH)
    .normalize('NFKC')
    .replace(/(?<=[A-Za-z0-9])(?=\p{Script=Han})|(?<=\p{Script=Han})(?=[A-Za-z0-9])/gu, ' ')
    .replace(/\p{Script=Han}+/gu, inPinyin)
  const reduced = anyAscii(latin.normalize('NFC'))
    .replace(/[\s/.,;+&()[\]]+/g, '-')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, MAX_CODE_LENGTH)
  return reduced === '' ? NAMELESS : reduced
}

/** Its dictionaries are loaded with the first path in Chinese. */
function inPinyin(text: string): string {
  const { pinyin } = require('pinyin-pro') as typeof import('pinyin-pro')
  return pinyin(text, { toneType: 'none', v: true })
}

/**
 * A code for each relative path of a source. A path that has one keeps it, whatever else comes or goes; a new one whose code is taken, in
 * this source or another, gets the lowest free numeric suffix. The order of `relativePaths` does not matter.
 * @param known codes of this source's paths, those of vectors that are missing now included
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

/** The code itself, or with the lowest numeric suffix that makes it unused. */
export function firstFree(base: string, used: ReadonlySet<string>): string {
  if (!used.has(base)) return base
  for (let n = 2; ; n++) if (!used.has(`${base}-${n}`)) return `${base}-${n}`
}
