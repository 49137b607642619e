import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { openBelow } from '@gateway/core/files/open-below.js'
import { parseOutsideJson } from '@gateway/core/files/outside-json.js'
import { listNames } from '../folder/listing.js'
import { FIELDS as GRID_FIELDS } from './grid.js'
import { isRecord, readMetadata, type TileSetMetadata } from './metadata.js'
import { type ProducerFields, readMapml, readPage, readTileMapResource, readTilingScheme } from './producers.js'

/** Metadata files by precedence, field by field. */
const FILE_NAMES = ['tilejson.json', 'metadata.json']

/** File that gdal2tiles writes next to its zoom folders (OSGeo Tile Map Service 1.0.0), unless it counts rows as XYZ. */
const TMS_RESOURCE = 'tilemapresource.xml'

/** Maximum size of a metadata file in bytes. Those of vector tile sets with attribute statistics reach a few megabytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024

/** File that gdal2tiles writes if it counts rows as XYZ, and its page for either order. */
const MAPML = 'mapml.mapml'
const PAGES = ['openlayers.html', 'leaflet.html']

/** Maximum number of pages with other names that are read; QGIS writes one. */
const MAX_OTHER_PAGES = 4

/** Number of bytes of the producers' files that are searched for grid and row order. */
const MAX_HEAD = 256 * 1024

const closeAsync = promisify(fs.close)
const readAsync = promisify(fs.readFile) as (fd: number) => Promise<Buffer>

export interface FolderMetadata extends TileSetMetadata {
  /** the bytes that were read, for the fingerprint */
  readonly content: readonly Uint8Array[]
  /** true if gdal2tiles has written the folder with rows counted from the south */
  readonly fromGdal: boolean
  /** reason why the tiles cannot be served; null: no file names a reason */
  readonly unserved: string | null
}

/**
 * Reads the metadata next to the zoom folders of `folder`. A file that is broken or leads out of `root` is a warning, not an error.
 * @param names content of the folder; absent: the folder is listed
 */
export async function readFolderMetadata(
  root: string,
  folder: string,
  names?: readonly string[],
): Promise<FolderMetadata> {
  const listed = names ?? (await listNames(root, folder))
  // Most folders have none of these files.
  const readSmall = async (name: string, warnings: string[]) =>
    listed.includes(name) ? readSmallFile(root, folder, name, warnings) : null
  return readMetadataFiles(readSmall, async () =>
    listed.filter((name) => /\.html?$/i.test(name) && !PAGES.includes(name)).sort(),
  )
}

/**
 * @param readSmall reads a whole file of at most `MAX_FILE_BYTES`; null if it does not exist, or was left out with a warning
 * @param otherPages names of further pages next to the tiles; absent: the folder cannot be listed
 */
export async function readMetadataFiles(
  readSmall: (name: string, warnings: string[]) => Promise<Buffer | null>,
  otherPages: () => Promise<string[]> = async () => [],
): Promise<FolderMetadata> {
  const warnings: string[] = []
  const content: Uint8Array[] = []
  /** by precedence, field by field */
  const said: ProducerFields[] = []
  const read = async (name: string) => {
    const data = await readSmall(name, warnings)
    if (data !== null) content.push(data)
    return data
  }
  for (const name of FILE_NAMES) {
    const data = await read(name)
    if (data === null) continue
    const fields = parse(name, data, warnings)
    said.push({ ...readTilingScheme(fields), ...fields })
  }
  const resource = await read(TMS_RESOURCE)
  const fromGdal = resource?.includes('<TileMap') ?? false
  if (resource !== null && fromGdal) said.push(readTileMapResource(textOf(resource)))
  // In object storage each further name is a request.
  if (said.every(({ scheme }) => scheme === undefined)) {
    const mapml = await read(MAPML)
    if (mapml !== null) said.push(readMapml(textOf(mapml)))
    for (const name of [...PAGES, ...(await otherPages()).slice(0, MAX_OTHER_PAGES)]) {
      const page = await read(name)
      if (page !== null) said.push(readPage(textOf(page)))
    }
  }
  const { unserved: _, ...fields } = Object.assign({}, ...[...said].reverse()) as ProducerFields
  const metadata = readMetadata(fields)
  return { ...metadata, content, fromGdal, unserved: unservedBy(said), warnings: [...warnings, ...metadata.warnings] }
}

/** The first file with information about the grid decides. */
function unservedBy(said: readonly ProducerFields[]): string | null {
  const first = said.find((fields) => fields.unserved !== undefined || GRID_FIELDS.some((field) => field in fields))
  return first?.unserved ?? null
}

function textOf(data: Buffer): string {
  return data.toString('utf8', 0, MAX_HEAD)
}

function parse(name: string, data: Buffer, warnings: string[]): Record<string, unknown> {
  try {
    const value: unknown = parseOutsideJson(data.toString('utf8').replace(/^\uFEFF/, ''))
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
