import { copyFile, link, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeMbtiles, makePmtiles } from '../fixtures/tile-sets.js'
import { makeGeojson } from '../fixtures/vectors.js'

/** Two more basemaps with two versions each have only rows (`rows.ts`): their files are missing. */
const BASEMAPS = 312
/** Number of basemaps with three versions; the others have two: 880 versions. */
const WITH_THREE = 256
const VECTORS = 203
/** Names that differ only in their last letters. */
const SERIES = [
  'harbour-authority-nautical-chart-of-the-northern-approaches-sheet',
  'city-survey-office-orthophoto-twenty-centimetres-district',
  'water-board-groundwater-monitoring-network-catchment',
  'topographic-map-one-to-twenty-five-thousand-sheet',
]
const PAD = 3

const IMAGERY = fileURLToPath(new URL('../../../services/tools/demo-data/imagery/', import.meta.url))

/** Returns the code of the sample's basemap or vector by number, counted from 0. */
export function sampleCode(n: number): string {
  return `${SERIES[n % SERIES.length]}-${String(n + 1).padStart(PAD, '0')}`
}

/** Writes the files of the sample below `dir`: `maps` and `vectors`, each with a damaged one, and images to slice. All archives are links to two files. */
export async function laySampleFiles(dir: string): Promise<void> {
  const archives = { mbtiles: join(dir, 'template.mbtiles'), pmtiles: join(dir, 'template.pmtiles') }
  await makeMbtiles(archives.mbtiles)
  await makePmtiles(archives.pmtiles, { shade: 9 })
  for (let n = 0; n < BASEMAPS; n++) {
    const folder = join(dir, 'maps', sampleCode(n))
    await mkdir(folder, { recursive: true })
    const kind = n % 2 === 0 ? 'mbtiles' : 'pmtiles'
    for (const version of ['2024-11', '2025-11', '2026-11'].slice(n < WITH_THREE ? 0 : 1)) {
      await link(archives[kind], join(folder, `${version}.${kind}`))
    }
  }
  await writeFile(join(dir, 'maps', 'damaged.mbtiles'), 'this is no database')
  await mkdir(join(dir, 'imagery'))
  for (const name of ['blue-marble.jpg', 'blue-marble.jgw', 'blue-marble.prj'])
    await copyFile(join(IMAGERY, name), join(dir, 'imagery', name))
  for (let n = 0; n < VECTORS; n++) await makeGeojson(join(dir, 'vectors', `${sampleCode(n)}.geojson`))
  await writeFile(join(dir, 'vectors', 'damaged.geojson'), '{"type": "FeatureColl')
}
