import { extname } from 'node:path'
import type { MessageCode } from '@gateway/contracts/messages.js'

/** The kind of a file by its name, if a scan may skip it. */
export interface FileKind {
  readonly code: MessageCode
  /** name of the format, for people */
  readonly format: string
  /** true to warn once for a whole source, because the cause is not in its folders */
  readonly ofSource?: boolean
}

const of = (code: MessageCode, formats: Readonly<Record<string, string>>): [string, FileKind][] =>
  Object.entries(formats).flatMap(([format, extensions]) =>
    extensions.split(' ').map((extension): [string, FileKind] => [`.${extension}`, { code, format }]),
  )

const KINDS: ReadonlyMap<string, FileKind> = new Map([
  ...of('scan_image', { GeoTIFF: 'tif tiff gtiff', JPEG: 'jpg jpeg', PNG: 'png', 'JPEG 2000': 'jp2 j2k jpx' }),
  ...of('scan_image_to_convert', {
    'Erdas Imagine': 'img',
    VRT: 'vrt',
    NetCDF: 'nc nc4 cdf',
    HDF: 'hdf h4 h5 hdf5 he5',
    'ENVI or raw bands': 'bil bip bsq envi',
    MRF: 'mrf',
    ECW: 'ecw',
    MrSID: 'sid',
    NITF: 'ntf nitf',
    GRIB: 'grb grb2 grib grib2',
    GIF: 'gif',
    BMP: 'bmp',
    WebP: 'webp',
    'ESRI grid': 'asc adf',
    DEM: 'dem hgt dt0 dt1 dt2',
    PCIDSK: 'pix',
    BSB: 'kap',
  }),
  ...of('scan_vector_to_pack', { MapInfo: 'tab mif', 'File Geodatabase': 'gdb' }),
  ...of('scan_vector_to_convert', {
    TopoJSON: 'topojson',
    'SQLite or SpatiaLite': 'sqlite sqlite3 spatialite db',
    DWG: 'dwg',
    DGN: 'dgn',
    OpenStreetMap: 'osm',
    Access: 'mdb accdb',
    'a spreadsheet': 'xls xlsx ods',
    Parquet: 'parquet geoparquet',
    Arrow: 'arrow feather',
    'ArcInfo interchange': 'e00',
    'tab-separated values': 'tsv',
  }),
  ...of('scan_tiles_in_vector_source', {
    MBTiles: 'mbtiles',
    PMTiles: 'pmtiles',
    'Esri tile package': 'tpk tpkx vtpk',
    'Esri compact cache': 'bundle bundlx',
    'vector tiles': 'pbf mvt',
  }),
  ...of('scan_archive', {
    '7z': '7z',
    RAR: 'rar',
    tar: 'tar tgz',
    gzip: 'gz',
    bzip2: 'bz2',
    xz: 'xz',
    Zstandard: 'zst',
    zip: 'zip',
  }),
  ...of('scan_vector_in_basemap_source', {
    GeoJSON: 'geojson geojsonl geojsons ndjson',
    shapefile: 'shp',
    FlatGeobuf: 'fgb',
    KML: 'kml kmz',
    GML: 'gml',
    CSV: 'csv',
    GPX: 'gpx',
    DXF: 'dxf',
  }),
  ...of('scan_part_without_shapefile', { shapefile: 'dbf shx' }),
])

/** Documents, projects and files of other programs, which nobody expects a scan to serve. */
const BESIDE = new Set(
  (
    'txt md html htm pdf doc docx ppt pptx odt rtf xml xsd xsl qml sld lyr lyrx qgs qgz mxd aprx map style json yml yaml ini cfg conf ' +
    'properties toml log csvt prj qpj cpg sbn sbx qix fix idm ind atx ain aih fbn fbx cst tfw tifw jgw jpgw pgw pngw wld aux ovr rrd ige hdr msk stx ' +
    'gfs dat id bak tmp part lock js mjs css ts py sh bat sql sha256 sha1 md5 sig asc~ sqlite-wal sqlite-shm gpkg-wal gpkg-shm gpkg-journal ' +
    'mid mbtiles-wal mbtiles-shm mbtiles-journal db-wal db-shm db-journal idx ppg pjg ptf lrc til mapml svg ico ttf otf woff woff2 mp4 zip~ crc url desktop ds_store'
  )
    .split(' ')
    .map((extension) => `.${extension}`),
)
/** Files that carry no content themselves. gdal2tiles writes `doc.kml` next to its tiles, as the index of a super-overlay. */
const NAMES_BESIDE = /^(?:thumbs\.db|desktop\.ini|doc\.kml)$/i

/** Returns the kind of a file that no reader of its source accepts, or null if no warning is needed. Files without an extension count as notes, like README. */
export function fileKindOf(name: string): FileKind | null {
  const extension = extname(name).toLowerCase()
  if (extension === '' || BESIDE.has(extension) || NAMES_BESIDE.test(name) || name.endsWith('~')) return null
  return KINDS.get(extension) ?? { code: 'scan_unknown_file', format: extension }
}

/** Image formats of tiles in a pyramid. */
export const TILE_IMAGE = /\.(?:png|jpe?g|webp|avif|pbf|mvt)$/i
