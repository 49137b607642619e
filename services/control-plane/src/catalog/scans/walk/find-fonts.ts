import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import type { StoredFont } from '@gateway/store/styles.js'
import { fontFault } from '@gateway/styles/outlines.js'
import { quoted } from './found.js'
import { listEntries } from './list-entries.js'
import { type WalkedSource, warnIn } from './walked-source.js'

const FONT_FILE = /\.(ttf|otf|ttc)$/i
const RANGE_FILE = /^[0-9]{1,5}-[0-9]{3,5}\.pbf$/
/** Limit: bytes of a font file, which the edge reads as a whole. The largest collections with ideographs have 30 MB. */
const MAX_FONT_BYTES = 128 * 1024 * 1024

/** Fonts of a folder `fonts`; those that were found before stay. */
export function findFonts(source: WalkedSource, folder: string, fonts: Map<string, StoredFont>): void {
  for (const { name, path, kind } of listEntries(source, folder)) {
    if (kind !== 'directory' || fonts.has(name)) continue
    const files = listEntries(source, path).filter((entry) => entry.kind === 'file')
    const ranges = files.filter((file) => RANGE_FILE.test(file.name))
    const [outlines] = files.filter((file) => FONT_FILE.test(file.name))
    if (ranges.length > 0) {
      const identity = ranges.map((file) => `${file.name} ${identityOf(file.path)}`).join('\n')
      fonts.set(name, { name, kind: 'ranges', path, face: null, fingerprint: digest(identity) })
    } else if (outlines !== undefined) {
      const fault = faultOf(outlines.path)
      if (fault !== null) {
        const file = quoted(relative(source.root, outlines.path))
        warnIn(source, coded('style_font_broken', { file, reason: fault }))
        continue
      }
      const fingerprint = digest(`${outlines.path} ${identityOf(outlines.path)}`)
      fonts.set(name, { name, kind: 'outlines', path: outlines.path, face: null, fingerprint })
    } else warnIn(source, coded('style_font_empty', { folder: quoted(relative(source.root, path)) }))
  }
}

function faultOf(path: string): string | null {
  try {
    return statSync(path).size > MAX_FONT_BYTES
      ? `it has more than ${MAX_FONT_BYTES} bytes`
      : fontFault(readFileSync(path))
  } catch (error) {
    return (error as Error).message.slice(0, 200)
  }
}

/** Identifies the content of a file by its size and modification time. */
export function identityOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path)
    return `${size}-${mtimeMs}`
  } catch {
    return 'gone'
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
