import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { FontFace } from './fonts.js'
import { openOutlines } from './outlines.js'
import { type CodePoints, parseRanges } from './subset-fonts.js'

/** A font that is installed on this system, with the characters that it has. */
export interface SystemFont extends FontFace {
  readonly isBold: boolean
  readonly isItalic: boolean
  readonly has: CodePoints
}

/** Folders of fonts, where fontconfig looks by default. */
const FOLDERS = ['/usr/share/fonts', '/usr/local/share/fonts', '.fonts', '.local/share/fonts']
const FONT_FILE = /\.(ttf|otf|ttc|otc)$/i
/** Limits: font files of the folders, and the bytes of one. The largest CJK collections have 100 MB. */
const MAX_FILES = 1000
const MAX_BYTES = 200 * 1024 * 1024
/** Limits of fontconfig's list, whose first one makes its cache. */
const LIST_WITHIN_MS = 8_000
const LIST_MAX_BYTES = 64 * 1024 * 1024
const LIST_FORMAT = '%{file}\\t%{postscriptname}\\t%{weight}\\t%{slant}\\t%{charset}\\n'
/** fontconfig's weights: 80 is regular, 200 bold. */
const BOLD_FROM = 180

/** Font files of the system's folders, with what identifies their content. Reads the disk. */
export function systemFontFiles(): readonly string[] {
  const files = FOLDERS.flatMap((folder) => {
    const top = join(folder.startsWith('/') ? '/' : homedir(), folder)
    try {
      return readdirSync(top, { recursive: true, encoding: 'utf8' }).map((file) => join(top, file))
    } catch {
      return []
    }
  })
  return files
    .filter((file) => FONT_FILE.test(file))
    .sort()
    .slice(0, MAX_FILES)
}

/** Returns the fonts of the system: those that fontconfig lists, or without it those of the usual folders. */
export async function findSystemFonts(): Promise<readonly SystemFont[]> {
  const listed = await listByFontconfig()
  return listed ?? systemFontFiles().flatMap(readFont)
}

/** Returns null without fontconfig. */
async function listByFontconfig(): Promise<readonly SystemFont[] | null> {
  try {
    const limits = { timeout: LIST_WITHIN_MS, maxBuffer: LIST_MAX_BYTES }
    const { stdout } = await promisify(execFile)('fc-list', ['--format', LIST_FORMAT], limits)
    return stdout.split('\n').flatMap((line) => {
      const [file = '', face = '', weight = '', slant = '', characters = ''] = line.split('\t')
      // A variable font has a range of weights, and is listed with each of its named weights too.
      if (!FONT_FILE.test(file) || weight.includes('[')) return []
      return systemFont(
        file,
        face || null,
        Number(weight) >= BOLD_FROM,
        Number(slant) > 0,
        parseRanges(characters, ' '),
      )
    })
  } catch {
    return null
  }
}

function readFont(file: string): readonly SystemFont[] {
  try {
    if (statSync(file).size > MAX_BYTES) return []
    const font = openOutlines(readFileSync(file), null)
    const look = `${font.subfamilyName ?? ''} ${basename(file)}`
    return systemFont(
      file,
      null,
      /bold|black|heavy/i.test(look),
      /italic|oblique/i.test(look),
      ranges(font.characterSet),
    )
  } catch {
    return []
  }
}

function ranges(codePoints: readonly number[]): CodePoints {
  const found: [number, number][] = []
  for (const id of [...codePoints].sort((a, b) => a - b)) {
    const last = found.at(-1)
    if (last !== undefined && id <= last[1] + 1) last[1] = id
    else found.push([id, id])
  }
  return found
}

function systemFont(
  path: string,
  face: string | null,
  isBold: boolean,
  isItalic: boolean,
  has: CodePoints,
): readonly SystemFont[] {
  try {
    const { size, mtimeMs } = statSync(path)
    const fingerprint = `${size} ${Math.round(mtimeMs)} ${isBold}`
    const look = { isBold, isItalic, weight: isBold ? 700 : 400 }
    return [
      { name: face ?? basename(path), kind: 'outlines', path, root: dirname(path), face, fingerprint, has, ...look },
    ]
  } catch {
    return []
  }
}
