/** Limit: fields told of one vector. */
export const MAX_FIELDS = 256
/** Limit: characters of names that are told: of fields, and of coordinate systems without a code. */
export const MAX_NAME = 200
/** Limit: bytes of a GeoJSON file that is read whole; some seconds. Of a larger one only the encoding is reported. */
export const MAX_GEOJSON_BYTES = 64 * 1024 * 1024
/** Limit: nesting of a GeoJSON file; a deeper one is none. */
export const MAX_DEPTH = 64
/** Limit: layers of a file with several; of one with more only the encoding is reported. */
export const MAX_LAYERS = 256
/** Limit: bytes of a GeoPackage whose features are counted one by one where it does not tell their number. */
export const MAX_COUNTED_BYTES = 64 * 1024 * 1024
/** Limit: bytes of a .prj, a .cpg or another text about a coordinate system; real ones have a few hundred. */
export const MAX_SIDECAR_BYTES = 16 * 1024
/** Limit: bytes of a file that GDAL reads whole; ten seconds or so. */
export const MAX_GDAL_BYTES = 256 * 1024 * 1024
