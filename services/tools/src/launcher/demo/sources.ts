import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Demo data in the repository; its README describes it. */
const DEMO_DATA = fileURLToPath(new URL('../../../demo-data/', import.meta.url))

/** Copied unchanged. */
export const IMAGERY = join(DEMO_DATA, 'imagery')
export const VECTORS = join(DEMO_DATA, 'vectors')
export const STYLES = join(DEMO_DATA, 'styles')

/** NASA Blue Marble, 4096 × 2048 pixels, equirectangular, north up. */
export const BLUE_MARBLE = join(IMAGERY, 'blue-marble.jpg')
