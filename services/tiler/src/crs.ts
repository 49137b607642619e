import type { CrsKind } from './footprint.js'

/** Maximum characters of a definition; the longest ones of the EPSG registry have a few thousand. */
const MAX_WKT_LENGTH = 64 * 1024

/** Words by which PROJ opens a file or an address for a definition. */
const OPENS_FILES = /nadgrids|geoidgrids|\+init|\+proj=pipeline|PARAMETERFILE|PROJ4_GRIDS|:\/\/|\/vsi/i

/** Removes the grid that says "no shift". Every WKT 1 of EPSG:3857 names it, and PROJ opens no file for it. */
function withoutNullGrid(text: string): string {
  return text.replace(/\+?nadgrids=@null([\s"]|$)/gi, '$1').replace(/PARAMETERFILE\["[^"]*","@null"\]/gi, '')
}

const CRS = /^\s*(GEOGCRS|GEOGCS|GEODCRS|GEOGRAPHICCRS|PROJCRS|PROJCS|PROJECTEDCRS|COMPOUNDCRS|COMPD_CS|BOUNDCRS)\s*\[/i

/**
 * True if a text is a WKT definition of a coordinate reference system on the earth, and names no file or
 * URL that PROJ would open for it.
 */
export function isUsableCrs(wkt: string): boolean {
  return wkt.length <= MAX_WKT_LENGTH && CRS.test(wkt) && !OPENS_FILES.test(withoutNullGrid(wkt))
}

/** True for a usable definition, or another form that GDAL accepts in its own files: a code of EPSG, or a PROJ string. */
export function isUsableSystem(text: string): boolean {
  if (/^\s*(?:EPSG:|urn:ogc:def:crs:EPSG:[\d.]*:)\d{4,6}\s*$/i.test(text)) return true
  if (!/^\s*\+proj=/.test(text)) return isUsableCrs(text)
  return text.length <= MAX_WKT_LENGTH && !/[/\\]/.test(text) && !OPENS_FILES.test(withoutNullGrid(text))
}

/** What GDAL writes for Web Mercator, without spaces, whatever its name, its base and its identifier are. */
const WEB_MERCATOR = [
  /^PROJCRS\[/,
  /ELLIPSOID\["[^"]*",6378137(?:\.0*)?,/,
  /PRIMEM\["[^"]*",0[.,\]]/,
  /METHOD\["PopularVisualisationPseudoMercator"/,
  /PARAMETER\["Latitudeofnaturalorigin",0,/,
  /PARAMETER\["Longitudeofnaturalorigin",0,/,
  /PARAMETER\["Falseeasting",0,/,
  /PARAMETER\["Falsenorthing",0,/,
]
const CARTESIAN = 'CS[Cartesian,2]'
const IN_METRES = /LENGTHUNIT\["met(?:re|er)",1[\],]/

/** Returns how a shift by a whole turn around the earth is expressed in a source's reference system. */
export function crsKind(wkt: string): CrsKind {
  const text = wkt.replace(/\s+/g, '')
  // Referenced systems come first in the text. The last identifier is that of the system itself.
  if (/^PROJ/i.test(text) && /ID\["EPSG",3857\]\]$|AUTHORITY\["EPSG","3857"\]\]$/.test(text)) return 'web-mercator'
  const axes = text.slice(text.indexOf(CARTESIAN))
  const isInMetres = axes.startsWith(CARTESIAN) && IN_METRES.test(axes)
  if (isInMetres && WEB_MERCATOR.every((part) => part.test(text))) return 'web-mercator'
  if (!/^GEO(G|D)/i.test(text)) return 'other'
  const greenwich = /PRIMEM\["[^"]*",0[.,\]]/i.test(text) || !/PRIMEM\[/i.test(text)
  const degrees = /UNIT\["degree[^"]*",0\.01745329/i.test(text) && !/UNIT\["grad/i.test(text)
  return greenwich && degrees ? 'geographic' : 'other'
}
