/** Maximum number of reported fields of one vector. */
export const MAX_FIELDS = 256
/** Maximum number of characters in reported names of fields, and of coordinate systems without a code. */
export const MAX_NAME = 200
/** Maximum bytes of a GeoJSON file that is read completely, which takes some seconds. For a larger one only the encoding is reported. */
export const MAX_GEOJSON_BYTES = 64 * 1024 * 1024
/** Maximum nesting of a GeoJSON file. A deeper one counts as invalid. */
export const MAX_DEPTH = 64
/** Maximum number of layers in a file. For more only the encoding is reported. */
export const MAX_LAYERS = 256
/** Maximum bytes of a GeoPackage whose features are counted one by one, if it does not state their number. */
export const MAX_COUNTED_BYTES = 64 * 1024 * 1024
/** Maximum bytes of a .prj, a .cpg or another text about a coordinate system; real ones have a few hundred. */
export const MAX_SIDECAR_BYTES = 16 * 1024
/** Maximum bytes of a file that GDAL reads completely, which takes about ten seconds. */
export const MAX_GDAL_BYTES = 256 * 1024 * 1024
/** Maximum bytes of one feature, which is in memory as a whole, several times. Real ones have some 30 million bytes with a million vertices. */
export const MAX_FEATURE_BYTES = 64 * 1024 * 1024
