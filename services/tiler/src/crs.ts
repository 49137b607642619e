import type { CrsKind } from './footprint.js'

/** Limit: characters of a definition; the longest of the EPSG registry have a few thousand. */
const MAX_WKT_LENGTH = 64 * 1024

/**
 * Whether a text is the definition of a coordinate reference system that lies on the earth, as WKT, and names no file or
 * address that PROJ would open for it.
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

/** What moving a source by a whole turn around the earth means in its reference system. */
export function crsKind(wkt: string): CrsKind {
  const text = wkt.replace(/\s+/g, '')
  // Whatever a system refers to comes first; its own identifier is the last of the text.
  if (/^PROJ/i.test(text) && /ID\["EPSG",3857\]\]$|AUTHORITY\["EPSG","3857"\]\]$/.test(text)) return 'web-mercator'
  if (!/^GEO(G|D)/i.test(text)) return 'other'
  const greenwich = /PRIMEM\["[^"]*",0[.,\]]/i.test(text) || !/PRIMEM\[/i.test(text)
  const degrees = /UNIT\["degree[^"]*",0\.01745329/i.test(text) && !/UNIT\["grad/i.test(text)
  return greenwich && degrees ? 'geographic' : 'other'
}
