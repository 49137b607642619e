import type { UploadTarget } from '../../api/uploads.js'

export type FileKind = UploadTarget['kind']

/** The kinds that each extension may be, the likely one first. */
const KINDS: Readonly<Record<string, readonly FileKind[]>> = {
  mbtiles: ['basemap'],
  pmtiles: ['basemap'],
  tif: ['basemap'],
  tiff: ['basemap'],
  gpkg: ['vector', 'basemap'],
  geojson: ['vector'],
  json: ['vector', 'style'],
  fgb: ['vector'],
  csv: ['vector'],
  zip: ['vector', 'style'],
}

export const ACCEPTED = Object.keys(KINDS)
  .map((extension) => `.${extension}`)
  .join(',')

export const extensionOf = (name: string) => name.slice(name.lastIndexOf('.') + 1).toLowerCase()

/** Returns the kinds that a file may be, by its name and the beginning of a JSON; empty: none. */
export async function kindsOf(file: File): Promise<readonly FileKind[]> {
  const kinds = KINDS[extensionOf(file.name)] ?? []
  if (extensionOf(file.name) !== 'json') return kinds
  const start = await file.slice(0, 65_536).text()
  return /"version"\s*:\s*8\b/.test(start) ? ['style', 'vector'] : kinds
}

/** Returns a code made from the name of a file. */
export function codeFrom(name: string): string {
  const stem = name.replace(/\.[^.]+$/, '')
  const code = stem.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-._]+/, '')
  let end = Math.min(code.length, 64)
  while (code[end - 1] === '-' || code[end - 1] === '.') end--
  return code.slice(0, end)
}
