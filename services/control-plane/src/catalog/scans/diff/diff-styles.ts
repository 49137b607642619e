import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import type { NewStyle, StoredFont, StoredStyle } from '@gateway/store/styles.js'
import { type FoundStyles, quoted } from '../walk/found.js'

export interface StyleDiff {
  /** new, changed or returned styles */
  readonly upserts: readonly NewStyle[]
  /** codes of styles that were available and were not found */
  readonly lostCodes: readonly string[]
  readonly fontsChanged: boolean
  readonly warnings: readonly CodedMessage[]
  readonly added: number
  readonly updated: number
  readonly missing: number
}

/**
 * Compares the result of a scan with the known state. Pure. Nothing is ever deleted. A style whose document is invalid now keeps its known state.
 * @param known every style of the catalog, since codes are unique over all sources
 * @param fonts known of this source
 */
export function diffStyles(
  found: FoundStyles,
  known: readonly StoredStyle[],
  fonts: readonly StoredFont[],
  sourceCode: string,
): StyleDiff {
  const byCode = new Map(known.map((style) => [style.code, style]))
  const upserts: NewStyle[] = []
  const warnings: CodedMessage[] = []
  let added = 0
  for (const { folder: _, ...style } of found.styles) {
    const was = byCode.get(style.code)
    if (was !== undefined && was.sourceCode !== sourceCode) {
      warnings.push(coded('style_code_taken', { file: quoted(style.path), code: quoted(style.code) }))
      continue
    }
    if (was?.available && was.fingerprint === style.fingerprint && was.path === style.path) continue
    if (was === undefined) added += 1
    upserts.push({ ...style, sourceCode })
  }
  const there = new Set([...found.styles.map(({ code }) => code), ...found.invalid])
  const missing = known.filter((style) => style.sourceCode === sourceCode && !there.has(style.code))
  const lostCodes = missing.filter(({ available }) => available).map(({ code }) => code)
  return {
    upserts,
    lostCodes,
    fontsChanged: textOf(fonts) !== textOf(found.fonts),
    warnings,
    added,
    updated: upserts.length - added,
    missing: missing.length,
  }
}

function textOf(fonts: readonly StoredFont[]): string {
  const rows = fonts.map(({ name, kind, path, face, fingerprint }) =>
    JSON.stringify([name, kind, path, face, fingerprint]),
  )
  return rows.sort().join('\n')
}
