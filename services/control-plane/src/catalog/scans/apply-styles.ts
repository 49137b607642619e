import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import { readFontsOfSource, readStyles, replaceFonts, setStylesAvailable, upsertStyle } from '@gateway/store/styles.js'
import { readAvailableParts, styleProblems } from '../styles/problems.js'
import type { Applied, ScanOf } from './apply.js'
import { diffStyles } from './diff/diff-styles.js'
import { type FoundStyles, noWarnings, warn, warnAll } from './walk/found.js'

/** Writes the result of a scan of styles. */
export async function applyStyles(tx: Transaction, found: FoundStyles, { sourceCode }: ScanOf): Promise<Applied> {
  const diff = diffStyles(found, await readStyles(tx, null), await readFontsOfSource(tx, sourceCode), sourceCode)
  for (const style of diff.upserts) await upsertStyle(tx, style)
  if (diff.lostCodes.length > 0) await setStylesAvailable(tx, diff.lostCodes, false)
  if (diff.fontsChanged) await replaceFonts(tx, sourceCode, found.fonts)
  const warnings = noWarnings()
  warnAll(warnings, found.warnings)
  for (const said of diff.warnings) warn(warnings, said)
  const available = await readAvailableParts(tx)
  for (const style of found.styles) for (const said of styleProblems(style, available)) warn(warnings, said)
  const codes = [...diff.upserts.map(({ code }) => code), ...diff.lostCodes]
  const changes: NewChange[] = codes.map((key) => ({ kind: 'style', key }))
  if (diff.fontsChanged) changes.push({ kind: 'font', key: '' })
  return { ...diff, warnings, changes }
}
