import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** three-globe carries public-domain world data among its examples; it exports only its bundle, which lies in `dist`. */
const THREE_GLOBE = join(dirname(createRequire(import.meta.url).resolve('three-globe')), '..')

/** NASA Blue Marble, 4096 × 2048 pixels, equirectangular, north up. */
export const BLUE_MARBLE = join(THREE_GLOBE, 'example/img/earth-blue-marble.jpg')

/** Natural Earth 1:110m countries. */
export const COUNTRIES = join(THREE_GLOBE, 'example/country-polygons/ne_110m_admin_0_countries.geojson')
