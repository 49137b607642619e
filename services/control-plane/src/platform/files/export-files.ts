import { join, parse } from 'node:path'
import { EXPORT_FORMATS, type ExportFormat } from '@gateway/contracts/export.js'

/** Directory of export archives. Control planes of one cluster share it, like the logs of slice jobs. */
export const exportDirectory = (dataDir: string): string => join(dataDir, 'exports')

export const exportFileName = ({ id, format }: { readonly id: string; readonly format: ExportFormat }): string =>
  `${id}.${format}`

/** Returns the id of the export that owns an archive, from its name, or the name itself. */
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
