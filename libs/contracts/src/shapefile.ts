/** The extensions of files that make up one shapefile (ESRI Shapefile Technical Description, and additions of GIS programs). */
export const SHAPEFILE_EXTENSIONS: ReadonlySet<string> = new Set([
  'shp',
  'shx',
  'dbf',
  'prj',
  'cpg',
  // Memos of the table.
  'dbt',
  'fpt',
  'qix',
  'qpj',
  'qmd',
  // Styles of QGIS and of the OGC: without them a colleague's map has random colours.
  'qml',
  'sld',
  'sbn',
  'sbx',
  'fbn',
  'fbx',
  'ain',
  'aih',
  'atx',
  'fix',
  'idm',
  'ind',
  'ixs',
  'mxs',
  'cst',
  'xml',
  'shp.xml',
])

/** True if a file name is the shapefile's own or that of one of its parts: `base` with one of the extensions, in any case. */
export function isPartOfShapefile(base: string, fileName: string): boolean {
  return fileName.startsWith(`${base}.`) && SHAPEFILE_EXTENSIONS.has(fileName.slice(base.length + 1).toLowerCase())
}
