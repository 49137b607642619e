/** The package brings no types of its own. */
declare module 'shpjs' {
  import type { FeatureCollection } from 'geojson'
  /** Reads every shapefile of a zip, in WGS 84 where a .prj says how. */
  export function parseZip(zip: ArrayBuffer): Promise<FeatureCollection | FeatureCollection[]>
}
