/** Limit: fields told of one vector. */
export const MAX_FIELDS = 256
/** Limit: characters of names that are told: of fields, and of coordinate systems without a code. */
export const MAX_NAME = 200
/** Limit: bytes of a GeoJSON file that is read whole; some seconds. Of a larger one only the encoding is told. */
export const MAX_GEOJSON_BYTES = 64 * 1024 * 1024
/** Limit: nesting of a GeoJSON file; a deeper one is none. */
export const MAX_DEPTH = 64
/** Limit: bytes of a .prj or .cpg; real ones have a few hundred. */
export const MAX_SIDECAR_BYTES = 16 * 1024
