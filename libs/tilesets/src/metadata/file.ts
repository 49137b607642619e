import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { openBelow } from '@gateway/files/open-below.js'
import { isRecord, readMetadata, type TileSetMetadata } from './metadata.js'

/** In the order in which they win, field by field. */
const FILE_NAMES = ['tilejson.json', 'metadata.json']

/** What gdal2tiles writes beside its zoom folders (OSGeo Tile Map Service 1.0.0), unless it was told to count rows as XYZ. */
const TMS_RESOURCE = 'tilemapresource.xml'

/** Limit: bytes of a metadata file. Those of vector tile sets with attribute statistics reach a few megabytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024

/** Limit: bytes of a tile map resource in which its grid is looked for. */
const MAX_RESOURCE_HEAD = 64 * 1024

const closeAsync = promisify(fs.close)
const readAsync = promisify(fs.readFile) as (fd: number) => Promise<Buffer>

export interface FolderMetadata extends TileSetMetadata {
  /** the bytes that were read, for the fingerprint */
  readonly content: readonly Uint8Array[]
  /** gdal2tiles has written the folder and counts rows from the south */
  readonly fromGdal: boolean
}

/** The metadata beside the zoom folders of `folder`. A file that is broken or leads out of `root` is a warning, not an error. */
export function readFolderMetadata(root: string, folder: string): Promise<FolderMetadata> {
  return readMetadataFiles((name, warnings) => readSmallFile(root, folder, name, warnings))
}

/** @param readSmall the whole of a file of at most `MAX_FILE_BYTES`; null where it is not there, or is left out with a warning */
export async function readMetadataFiles(
  readSmall: (name: string, warnings: string[]) => Promise<Buffer | null>,
): Promise<FolderMetadata> {
  const warnings: string[] = []
  const content: Uint8Array[] = []
  let fields: Record<string, unknown> = {}
  for (const name of FILE_NAMES) {
    const data = await readSmall(name, warnings)
    if (data === null) continue
    content.push(data)
    fields = { ...parse(name, data, warnings), ...fields }
  }
  const resource = await readSmall(TMS_RESOURCE, warnings)
  const fromGdal = resource?.includes('<TileMap') ?? false
  if (resource !== null) {
    content.push(resource)
    if (fromGdal) fields = { scheme: 'tms', ...gridOfResource(resource), ...fields }
  }
  const metadata = readMetadata(fields)
  return { ...metadata, content, fromGdal, warnings: [...warnings, ...metadata.warnings] }
}

/** West, south, east and north. */
const BOX_SIDES = [
  /\bminx="([-0-9.]{1,40})"/,
  /\bminy="([-0-9.]{1,40})"/,
  /\bmaxx="([-0-9.]{1,40})"/,
  /\bmaxy="([-0-9.]{1,40})"/,
]

/** What it says of its grid, by one line each, as gdal2tiles writes them. Its box is in degrees whatever the grid. */
function gridOfResource(resource: Buffer): Record<string, unknown> {
  const text = resource.toString('utf8', 0, MAX_RESOURCE_HEAD)
  const srs = /<SRS>([^<]{1,1000})<\/SRS>/.exec(text)?.[1]
  const profile = /<TileSets profile="([^"]{1,100})"/.exec(text)?.[1]
  const box = /<BoundingBox ([^>]{1,400})>/.exec(text)?.[1] ?? ''
  const bounds = BOX_SIDES.map((side) => Number(side.exec(box)?.[1] ?? Number.NaN))
  return {
    ...(srs === undefined ? {} : { srs }),
    ...(profile === undefined ? {} : { profile }),
    // Other writers give the box of Web Mercator in metres, as the specification wants it.
    ...(profile === 'geodetic' && bounds.every(Number.isFinite) ? { bounds } : {}),
  }
}

function parse(name: string, data: Buffer, warnings: string[]): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data.toString('utf8').replace(/^\uFEFF/, ''))
    if (isRecord(value)) return value
    warnings.push(`${name} is not a JSON object and is ignored`)
  } catch {
    warnings.push(`${name} is not valid JSON and is ignored`)
  }
  return {}
}

async function readSmallFile(root: string, folder: string, name: string, warnings: string[]): Promise<Buffer | null> {
  const opened = await openBelow(root, path.join(folder, name))
  if (!opened.ok) {
    if (opened.reason !== 'absent') warnings.push(`${name} is ignored: ${opened.reason.replaceAll('_', ' ')}`)
    return null
  }
  try {
    if (opened.size <= MAX_FILE_BYTES) return await readAsync(opened.fd)
    warnings.push(`${name} is ignored: larger than ${MAX_FILE_BYTES} bytes`)
    return null
  } finally {
    await closeAsync(opened.fd)
  }
}
