/**
 * In which points a version of GDAL's OGCAPI driver reads documents otherwise than the standard says. No document fits all versions: 3.6 takes the
 * extent of a collection for one in the units of its tiles, and 3.8 takes it for degrees, as the standard has it. So GDAL is known by its headers.
 */
export interface GdalQuirks {
  /** before 3.7.2: extents are in the units of the tiles, and limits that are not those of the whole matrix shift the tiles */
  readonly ownUnits: boolean
  /** before 3.9: images of other types are read as well, but only if the document calls them PNG or JPEG */
  readonly onlyPngAndJpeg: boolean
  /** a missing tile is an error unless its status is 204 */
  readonly missingFails: boolean
}

export const NO_QUIRKS: GdalQuirks = { ownUnits: false, onlyPngAndJpeg: false, missingFails: false }

/** Which no other client of tiles accepts of a document. */
const GDAL_ACCEPTS = 'application/geo+json, application/json'
/** Up to 3.6 it does not say its name; Debian 12 has that version. */
const UNNAMED = 30600

/** The quirks of a client. A GDAL whose user has given it another name is taken for a client by the standard. */
export function gdalQuirks(accept: string, userAgent: string): GdalQuirks {
  const [, major, minor, patch] = /^GDAL\/(\d+)\.(\d+)\.(\d+)/.exec(userAgent) ?? []
  const named = Number(major) * 10_000 + Number(minor) * 100 + Number(patch)
  const version = userAgent === '' && accept === GDAL_ACCEPTS ? UNNAMED : named
  if (Number.isNaN(version)) return NO_QUIRKS
  return { ownUnits: version < 30702, onlyPngAndJpeg: version < 30900, missingFails: true }
}
