import type { Bounds } from '@gateway/contracts/basemap.js'

/** The header of a .shp, the only part that is read. */
export function shpHeader(type: number, box: Bounds): Buffer {
  const header = Buffer.alloc(100)
  header.writeInt32BE(9994, 0)
  header.writeInt32LE(1000, 28)
  header.writeInt32LE(type, 32)
  box.forEach((value, i) => void header.writeDoubleLE(value, 36 + i * 8))
  return header
}

/** A .shx of this many shapes, of which only the length is correct. */
export const shxOf = (shapes: number) => Buffer.alloc(100 + shapes * 8)

/** The header of a .dbf with fields by name and dBASE type. */
export function dbfHeader(fields: readonly (readonly [string | Buffer, string])[], records = 0, driver = 0): Buffer {
  const header = Buffer.alloc(32 + fields.length * 32 + 1)
  header.writeUInt8(3, 0)
  header.writeUInt32LE(records, 4)
  header.writeUInt16LE(header.length, 8)
  header.writeUInt8(driver, 29)
  for (const [i, [name, type]] of fields.entries()) {
    Buffer.from(name).copy(header, 32 + i * 32)
    header.write(type, 32 + i * 32 + 11)
  }
  header.writeUInt8(0x0d, header.length - 1)
  return header
}

export const PRJ_WGS84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],' +
  'UNIT["Degree",0.0174532925199433]]'

const PRJ_CGCS2000 =
  'GEOGCS["GCS_China_Geodetic_Coordinate_System_2000",DATUM["D_China_2000",SPHEROID["CGCS2000",6378137.0,298.257222101]],' +
  'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

/** Gauss-Kruger in strips of three degrees, as China's surveys write it. */
export const PRJ_GAUSS_KRUGER =
  `PROJCS["CGCS2000_3_Degree_GK_CM_114E",${PRJ_CGCS2000},PROJECTION["Gauss_Kruger"],PARAMETER["False_Easting",500000.0],` +
  'PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",114.0],PARAMETER["Scale_Factor",1.0],' +
  'PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]'

export const prjUtm = (zone: number) =>
  `PROJCS["WGS_1984_UTM_Zone_${zone}N",${PRJ_WGS84},PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],` +
  `PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",${zone * 6 - 183}.0],PARAMETER["Scale_Factor",0.9996],` +
  'PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]'
