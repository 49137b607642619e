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
  'sbn',
  'sbx',
  'fbn',
  'fbx',
  'ain',
  'aih',
  'atx',
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
