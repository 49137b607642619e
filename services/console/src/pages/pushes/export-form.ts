import type { ExportBody } from '@gateway/contracts/export.js'

/** Four numbers as people write them, separated by commas or blanks: west, south, east, north. undefined: all of it; null: none of this. */
export function parseBounds(text: string): ExportBody['bounds'] | null {
  if (text.trim() === '') return undefined
  const parts = text.trim().split(/[\s,;]+/)
  const [west, south, east, north] = parts.map(Number)
  if (parts.length !== 4 || west === undefined || south === undefined || east === undefined || north === undefined)
    return null
  const isEarth = [west, east].every((x) => Math.abs(x) <= 180) && [south, north].every((y) => Math.abs(y) <= 90)
  return isEarth && south < north && west !== east ? [west, south, east, north] : null
}
