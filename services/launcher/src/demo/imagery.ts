import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BLUE_MARBLE } from './sources.js'

/** The image that the start command offers to slice, below the demo folder. */
export const DEMO_IMAGE = join('imagery', 'blue-marble.jpg')

/** Degrees of one pixel: 360 over 4096 columns, 180 over 2048 rows. */
const PIXEL = 360 / 4096

/** ESRI's world file: pixel width, two rotations, pixel height, and the centre of the first pixel. */
const WORLD_FILE = [PIXEL, 0, 0, -PIXEL, -180 + PIXEL / 2, 90 - PIXEL / 2].join('\n')

const WGS84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

/** An image of the world with its georeferencing in sidecar files, as plain JPEG imagery comes. */
export async function writeImagery(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await copyFile(BLUE_MARBLE, join(folder, 'blue-marble.jpg'))
  await writeFile(join(folder, 'blue-marble.jgw'), `${WORLD_FILE}\n`)
  await writeFile(join(folder, 'blue-marble.prj'), WGS84)
}
