import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeTable } from './dbase.js'
import { encodePolygons, type PolygonFeature } from './shapefile.js'
import { COUNTRIES } from './sources.js'

/** WGS 84 in the words of ESRI, which is what .prj files are read for. */
const WGS_84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
  'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

/** Writes the demo's vectors: the countries of the world as GeoJSON, and as a shapefile with its sidecar files. */
export async function writeVectors(root: string): Promise<void> {
  const folder = join(root, 'natural-earth')
  await mkdir(folder, { recursive: true })
  await copyFile(COUNTRIES, join(folder, 'countries.geojson'))
  const { features } = JSON.parse(await readFile(COUNTRIES, 'utf8')) as { features: PolygonFeature[] }
  const { shp, shx } = encodePolygons(features)
  const table = encodeTable(
    features.map(({ properties }) => properties),
    new Date(),
  )
  const parts = { shp, shx, dbf: table, prj: WGS_84, cpg: 'UTF-8' }
  for (const [extension, content] of Object.entries(parts)) {
    await writeFile(join(folder, `countries_shp.${extension}`), content)
  }
}
