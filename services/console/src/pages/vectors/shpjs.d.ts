/** The package ships no types. */
declare module 'shpjs' {
  import type { FeatureCollection } from 'geojson'
  /** Reads every shapefile of a zip, converted to WGS 84 if a .prj names the coordinate system. */
  export function parseZip(zip: ArrayBuffer): Promise<FeatureCollection | FeatureCollection[]>
}
