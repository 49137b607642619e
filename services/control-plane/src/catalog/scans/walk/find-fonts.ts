import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import type { StoredFont } from '@gateway/store/styles.js'
import type { AssetChecks } from './asset-checks.js'
import { quoted } from './found.js'
import { listEntries } from './list-entries.js'
import { type WalkedSource, warnIn } from './walked-source.js'

const FONT_FILE = /\.(ttf|otf|ttc)$/i
const RANGE_FILE = /^[0-9]{1,5}-[0-9]{3,5}\.pbf$/
/** Fonts of a folder `fonts`; those that were found before stay. Each font file is opened by a process that may be killed. */
export async function findFonts(
  source: WalkedSource,
  folder: string,
  fonts: Map<string, StoredFont>,
  checks: AssetChecks,
): Promise<void> {
  for (const { name, path, kind } of listEntries(source, folder)) {
    if (kind !== 'directory' || fonts.has(name)) continue
    const files = listEntries(source, path).filter((entry) => entry.kind === 'file')
    const ranges = files.filter((file) => RANGE_FILE.test(file.name))
    const [outlines] = files.filter((file) => FONT_FILE.test(file.name))
    if (ranges.length > 0) {
      const identity = ranges.map((file) => `${file.name} ${identityOf(file.path)}`).join('\n')
      fonts.set(name, { name, kind: 'ranges', path, face: null, fingerprint: digest(identity) })
    } else if (outlines !== undefined) {
      const fault = await checks.fontFault(source.root, outlines.path)
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
