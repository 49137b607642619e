import { join, parse } from 'node:path'
import { EXPORT_FORMATS, type ExportFormat } from '@gateway/contracts/export.js'

/** Where the archives of exports are. Control planes of one cluster share it, as they share the logs of slice jobs. */
export const exportDirectory = (dataDir: string): string => join(dataDir, 'exports')

export const exportFileName = ({ id, format }: { readonly id: string; readonly format: ExportFormat }): string =>
  `${id}.${format}`

/** The id of the export that an archive belongs to by its name; the name itself, where it has none. */
export function idOfExportFile(fileName: string): string {
  const { name, ext } = parse(fileName)
  return EXPORT_FORMATS.some((format) => ext === `.${format}`) ? name : fileName
}

/** Values of `Content-Type`. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  pmtiles: 'application/vnd.pmtiles',
  mbtiles: 'application/vnd.sqlite3',
  gpkg: 'application/geopackage+sqlite3',
  tpkx: 'application/octet-stream',
}
