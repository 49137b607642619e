import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Kept in the repository; its README says what it is. */
const DEMO_DATA = fileURLToPath(new URL('../../../demo-data/', import.meta.url))

/** Copied as they are. */
export const IMAGERY = join(DEMO_DATA, 'imagery')
export const VECTORS = join(DEMO_DATA, 'vectors')

/** NASA Blue Marble, 4096 × 2048 pixels, equirectangular, north up. */
export const BLUE_MARBLE = join(IMAGERY, 'blue-marble.jpg')
