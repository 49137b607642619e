/**
 * Points in which a version of GDAL's OGCAPI driver reads documents differently from the standard. No document fits all versions: 3.6 reads the
 * extent of a collection in the units of its tiles, and 3.8 in degrees, as in the standard. So GDAL is recognised by its headers.
 */
export interface GdalQuirks {
  /** Before 3.7.2: extents are in the units of the tiles, and limits that differ from those of the whole matrix shift the tiles. */
  readonly ownUnits: boolean
  /** Before 3.9: images of other types are read as well, but only if the document calls them PNG or JPEG. */
  readonly onlyPngAndJpeg: boolean
  /** A missing tile is an error unless the edge returns 204. */
  readonly missingFails: boolean
}

export const NO_QUIRKS: GdalQuirks = { ownUnits: false, onlyPngAndJpeg: false, missingFails: false }

/** Accept header that no other client of tiles sends for a document. */
const GDAL_ACCEPTS = 'application/geo+json, application/json'
/** Version assumed if the client does not send its name, as up to 3.6, the version of Debian 12. */
const UNNAMED = 30600

/** Returns the quirks of a client. A GDAL that is configured with another name is treated as a client that follows the standard. */
export function gdalQuirks(accept: string, userAgent: string): GdalQuirks {
  const [, major, minor, patch] = /^GDAL\/(\d+)\.(\d+)\.(\d+)/.exec(userAgent) ?? []
  const named = Number(major) * 10_000 + Number(minor) * 100 + Number(patch)
  const version = userAgent === '' && accept === GDAL_ACCEPTS ? UNNAMED : named
  if (Number.isNaN(version)) return NO_QUIRKS
  return { ownUnits: version < 30702, onlyPngAndJpeg: version < 30900, missingFails: true }
}
