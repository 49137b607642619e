import fs from 'node:fs'
import path from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'

/** A tile in Esri's numbering: row from the north. */
export interface CacheTile {
  readonly level: number
  readonly row: number
  readonly column: number
  readonly data: Uint8Array
}

const SIDE = 128
const INDEX_AT = 64
const INDEX_BYTES = SIDE * SIDE * 8

/** Makes bundles of compact cache V2 by name (`L00/R0000C0000.bundle`), as in Esri's white paper. */
export function makeBundles(tiles: readonly CacheTile[]): Map<string, Buffer> {
  const groups = new Map<string, CacheTile[]>()
  const hex = (n: number) => (n - (n % SIDE)).toString(16).padStart(4, '0')
  for (const tile of tiles) {
    const name = `L${String(tile.level).padStart(2, '0')}/R${hex(tile.row)}C${hex(tile.column)}.bundle`
    groups.set(name, [...(groups.get(name) ?? []), tile])
  }
  return new Map([...groups].map(([name, inside]) => [name, makeBundle(inside)]))
}

function makeBundle(tiles: readonly CacheTile[]): Buffer {
  const start = Buffer.alloc(INDEX_AT + INDEX_BYTES)
  const parts: Buffer[] = [start]
  let at = start.length
  let largest = 0
  for (const { row, column, data } of tiles) {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(data.length)
    const record = INDEX_AT + ((row % SIDE) * SIDE + (column % SIDE)) * 8
    start.writeUIntLE(at + 4, record, 5)
    start.writeUIntLE(data.length, record + 5, 3)
    parts.push(size, Buffer.from(data))
    at += 4 + data.length
    largest = Math.max(largest, data.length)
  }
  const head = [3, SIDE * SIDE, largest, 5, 0, 0, at, 0, 40, 0, 20 + INDEX_BYTES, 3, 16, SIDE * SIDE, 5, INDEX_BYTES]
  for (const [i, value] of head.entries()) start.writeUInt32LE(value, i * 4)
  return Buffer.concat(parts)
}

export interface CacheScheme {
  readonly wkid?: number
  readonly origin?: readonly [number, number]
  readonly levels: readonly { readonly level: number; readonly resolution: number; readonly scale?: number }[]
  readonly format?: string
  readonly storage?: string
  readonly side?: number
}

const ORIGIN = [-20037508.342787001, 20037508.342787001] as const

export function makeConf(scheme: CacheScheme): string {
  const { wkid = 102100, origin: [x, y] = ORIGIN, format = 'PNG', side = 256 } = scheme
  const lods = scheme.levels.map(
    ({ level, resolution, scale = resolution / 0.000264583 }) =>
      `<LODInfo><LevelID>${level}</LevelID><Scale>${scale}</Scale><Resolution>${resolution}</Resolution></LODInfo>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?><CacheInfo><TileCacheInfo><SpatialReference><WKID>${wkid}</WKID></SpatialReference>
    <TileOrigin><X>${x}</X><Y>${y}</Y></TileOrigin><TileCols>${side}</TileCols><TileRows>${side}</TileRows><DPI>96</DPI>
    <LODInfos>${lods.join('')}</LODInfos></TileCacheInfo>
    <TileImageInfo><CacheTileFormat>${format}</CacheTileFormat></TileImageInfo>
    <CacheStorageInfo><StorageFormat>${scheme.storage ?? 'esriMapCacheStorageModeCompactV2'}</StorageFormat><PacketSize>128</PacketSize></CacheStorageInfo></CacheInfo>`
}

export function makeEnvelope([west, south, east, north]: readonly number[]): string {
  return `<EnvelopeN><XMin>${west}</XMin><YMin>${south}</YMin><XMax>${east}</XMax><YMax>${north}</YMax></EnvelopeN>`
}

/** Makes `root.json` of a package. */
export function makeRoot({
  wkid = 102100,
  origin: [x, y] = ORIGIN,
  levels,
  format = 'PNG',
  side = 256,
}: CacheScheme): string {
  const spatialReference = { wkid, latestWkid: wkid === 102100 ? 3857 : wkid }
  return JSON.stringify({
    name: 'A package',
    copyrightText: 'Somebody',
    tileBundlesPath: './tile',
    spatialReference,
    tileInfo: { rows: side, cols: side, dpi: 96, origin: { x, y }, spatialReference, lods: levels },
    tileImageInfo: { format },
    storageInfo: { storageFormat: 'esriMapCacheStorageModeCompactV2', packetSize: 128 },
  })
}

export const MERCATOR_LEVELS = Array.from({ length: 20 }, (_, level) => ({
  level,
  resolution: 156543.03392800014 / 2 ** level,
}))

export function writeFiles(folder: string, files: Iterable<readonly [string, string | Uint8Array]>): void {
  for (const [name, data] of files) {
    const file = path.join(folder, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, data)
  }
}

/** Makes an uncompressed zip, except for the names in `deflated` (PKWARE APPNOTE 6.3). */
export function makeZip(
  files: Iterable<readonly [string, string | Uint8Array]>,
  deflated: readonly string[] = [],
): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, content] of files) {
    const data = Buffer.from(content)
    const isDeflated = deflated.includes(name)
    const stored = isDeflated ? deflateRawSync(data) : data
    const nameBytes = Buffer.from(name)
    const about = Buffer.alloc(26)
    about.writeUInt16LE(20, 0)
    about.writeUInt16LE(isDeflated ? 8 : 0, 4)
    about.writeUInt32LE(crc32(data), 10)
    about.writeUInt32LE(stored.length, 14)
    about.writeUInt32LE(data.length, 18)
    about.writeUInt16LE(nameBytes.length, 22)
    const signature = (bytes: string) => Buffer.from(bytes, 'latin1')
    parts.push(signature('PK\x03\x04'), about, nameBytes, stored)
    const more = Buffer.alloc(14)
    more.writeUInt32LE(at, 10)
    directory.push(signature('PK\x01\x02'), Buffer.from([20, 0]), about, more, nameBytes)
    at += 30 + nameBytes.length + stored.length
  }
  const list = Buffer.concat(directory)
  const count = directory.length / 5
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, list, end])
}
