import { boundsSchema } from './basemap.js'
import { sentence } from './messages.js'

/** Maximum whole degrees of WGS 84. */
const [MAX_LONGITUDE, MAX_LATITUDE] = [180, 90]

/** An area that limits readable data: WGS 84, south below north. If west is greater than east, it crosses the antimeridian. */
export const areaSchema = boundsSchema.refine(
  ([west, south, east, north]) =>
    Math.max(Math.abs(west), Math.abs(east)) <= MAX_LONGITUDE &&
    Math.max(Math.abs(south), Math.abs(north)) <= MAX_LATITUDE &&
    south < north &&
    west !== east,
  { error: sentence('said.bounds_wgs84') },
)
