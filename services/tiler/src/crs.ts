import type { CrsKind } from './footprint.js'

/** Maximum characters of a definition; the longest ones of the EPSG registry have a few thousand. */
const MAX_WKT_LENGTH = 64 * 1024

/**
 * True if a text is a WKT definition of a coordinate reference system on the earth, and names no file or
 * URL that PROJ would open for it.
 */
export function isUsableCrs(wkt: string): boolean {
  if (wkt.length > MAX_WKT_LENGTH) return false
  if (
    !/^\s*(GEOGCRS|GEOGCS|GEODCRS|GEOGRAPHICCRS|PROJCRS|PROJCS|PROJECTEDCRS|COMPOUNDCRS|COMPD_CS|BOUNDCRS)\s*\[/i.test(
      wkt,
    )
  ) {
    return false
  }
  return !/nadgrids|geoidgrids|\+init|\+proj=pipeline|PARAMETERFILE|PROJ4_GRIDS|:\/\/|\/vsi/i.test(wkt)
}

/** Returns how a shift by a whole turn around the earth is expressed in a source's reference system. */
export function crsKind(wkt: string): CrsKind {
  const text = wkt.replace(/\s+/g, '')
  // Referenced systems come first in the text. The last identifier is that of the system itself.
  if (/^PROJ/i.test(text) && /ID\["EPSG",3857\]\]$|AUTHORITY\["EPSG","3857"\]\]$/.test(text)) return 'web-mercator'
  if (!/^GEO(G|D)/i.test(text)) return 'other'
  const greenwich = /PRIMEM\["[^"]*",0[.,\]]/i.test(text) || !/PRIMEM\[/i.test(text)
  const degrees = /UNIT\["degree[^"]*",0\.01745329/i.test(text) && !/UNIT\["grad/i.test(text)
  return greenwich && degrees ? 'geographic' : 'other'
}
