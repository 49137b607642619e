import { expect, test } from 'vitest'
import { codeByParameters } from './epsg.js'

/** Returns a system as ESRI writes it: without codes. */
function esri(base: string, projection: string, parameters: Readonly<Record<string, number>>, unit = 1, name = 'x') {
  const listed = Object.entries(parameters).map(([key, value]) => `PARAMETER["${key}",${value}]`)
  const geographic = `GEOGCS["${base}",DATUM["D",SPHEROID["S",1,1]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
  return `PROJCS["${name}",${geographic},PROJECTION["${projection}"],${listed.join(',')},UNIT["U",${unit}]]`
}

const mercator = (lon: number, x: number, k: number, y = 0) => ({
  False_Easting: x,
  False_Northing: y,
  Central_Meridian: lon,
  Scale_Factor: k,
  Latitude_Of_Origin: 0,
})
const oblique = (x: number, y: number, lon: number, lat: number, k = 1) => ({
  False_Easting: x,
  False_Northing: y,
  Scale_Factor: k,
  Azimuth: 90,
  Longitude_Of_Center: lon,
  Latitude_Of_Center: lat,
})
const cone = (x: number, y: number, lon: number, lat1: number, lat2: number, lat0: number) => ({
  ...{ False_Easting: x, False_Northing: y, Central_Meridian: lon },
  ...{ Standard_Parallel_1: lat1, Standard_Parallel_2: lat2, Latitude_Of_Origin: lat0 },
})
const SWISS = [7.43958333333333, 46.9524055555556] as const
const FOOT = 0.304800609601219
const TM = 'Transverse_Mercator'
const BAY = [-71.5, 42.6833333333333, 41.7166666666667, 41] as const

test.each([
  [
    'ETRS89 UTM 32, whose axes EPSG also has in the other order',
    25832,
    esri('GCS_ETRS_1989', TM, mercator(9, 500000, 0.9996)),
  ],
  [
    'Mercator on the ellipsoid, which is not Web Mercator',
    3395,
    esri('GCS_WGS_1984', 'Mercator', { Standard_Parallel_1: 0 }),
  ],
  [
    'a zone of South Africa, whose axes point south and west',
    2052,
    esri('GCS_Hartebeesthoek_1994', 'Transverse_Mercator_South_Orientated', mercator(27, 0, 1)),
  ],
  ['the same as ESRI writes it', 2052, esri('GCS_Hartebeesthoek_1994', TM, mercator(27, 0, -1))],
  ['ETRS89 UTM 35', 25835, esri('GCS_ETRS_1989', TM, mercator(27, 500000, 0.9996))],
  ['Finland', 3067, esri('GCS_ETRS_1989', TM, mercator(27, 500000, 0.9996), 1, 'EUREF_FIN_TM35FIN')],
  ['ETRS89 UTM 32 with the zone in front', 4647, esri('GCS_ETRS_1989', TM, mercator(9, 32500000, 0.9996))],
  [
    'Gauss and Kruger in Germany',
    31467,
    esri('GCS_Deutsches_Hauptdreiecksnetz', 'Gauss_Kruger', mercator(9, 3500000, 1)),
  ],
  ['LV95', 2056, esri('GCS_CH1903+', 'Hotine_Oblique_Mercator_Azimuth_Center', oblique(2600000, 1200000, ...SWISS))],
  ['LV03', 21781, esri('GCS_CH1903', 'Hotine_Oblique_Mercator_Azimuth_Center', oblique(600000, 200000, ...SWISS))],
  ['NAD83 UTM 10 in metres', 26910, esri('GCS_North_American_1983', TM, mercator(-123, 500000, 0.9996))],
  ['NAD83 UTM 10 in feet', 4430, esri('GCS_North_American_1983', TM, mercator(-123, 1640416.67, 0.9996), FOOT)],
  [
    'Massachusetts in metres',
    26986,
    esri('GCS_North_American_1983', 'Lambert_Conformal_Conic', cone(200000, 750000, ...BAY)),
  ],
  [
    'Massachusetts in feet',
    2249,
    esri('GCS_North_American_1983', 'Lambert_Conformal_Conic', cone(656166.667, 2460625, ...BAY), FOOT),
  ],
  ['GDA2020 zone 55', 7855, esri('GCS_GDA2020', TM, mercator(147, 500000, 0.9996, 10000000))],
  ['GDA94 zone 55', 28355, esri('GCS_GDA_1994', TM, mercator(147, 500000, 0.9996, 10000000))],
  [
    'Xian 1980, a zone of three degrees',
    2383,
    esri('GCS_Xian_1980', 'Gauss_Kruger', mercator(114, 500000, 1), 1, 'Xian_1980_3_Degree_GK_CM_114E'),
  ],
  [
    'CGCS2000',
    4502,
    esri('GCS_China_Geodetic_Coordinate_System_2000', 'Gauss_Kruger', mercator(75, 500000, 1), 1, 'CGCS2000_GK_CM_75E'),
  ],
  ['a unit that no system has', null, esri('GCS_ETRS_1989', TM, mercator(9, 500000, 0.9996), 2)],
])('%s: EPSG %s', (_, code, wkt) => {
  expect(codeByParameters(wkt)).toBe(code)
})
