/** The files that make up one shapefile, by extension (ESRI Shapefile Technical Description, and what GIS programs put beside). */
export const SHAPEFILE_EXTENSIONS: ReadonlySet<string> = new Set([
  'shp',
  'shx',
  'dbf',
  'prj',
  'cpg',
  'qix',
  'qpj',
  'qmd',
  // Styles of QGIS and of the OGC: without them a colleague's map is drawn in random colours.
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

/** Whether a file name is the shapefile's own or that of a part of it: `base` with one of the extensions, in any case of letters. */
export function isPartOfShapefile(base: string, fileName: string): boolean {
  return fileName.startsWith(`${base}.`) && SHAPEFILE_EXTENSIONS.has(fileName.slice(base.length + 1).toLowerCase())
}
