import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { openBelow } from '@gateway/core/files/open-below.js'
import { listNames } from '../folder/listing.js'
import { FIELDS as GRID_FIELDS } from './grid.js'
import { isRecord, readMetadata, type TileSetMetadata } from './metadata.js'
import { type ProducerFields, readMapml, readPage, readTileMapResource, readTilingScheme } from './producers.js'

/** In the order in which they win, field by field. */
const FILE_NAMES = ['tilejson.json', 'metadata.json']

/** What gdal2tiles writes next to its zoom folders (OSGeo Tile Map Service 1.0.0), unless it was told to count rows as XYZ. */
const TMS_RESOURCE = 'tilemapresource.xml'

/** Limit: bytes of a metadata file. Those of vector tile sets with attribute statistics reach a few megabytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024

/** What gdal2tiles writes where it counts rows as XYZ, and the page of either order. */
const MAPML = 'mapml.mapml'
const PAGES = ['openlayers.html', 'leaflet.html']

/** Limit: pages of other names that are read; QGIS leaves one. */
const MAX_OTHER_PAGES = 4

/** Limit: bytes of what producers leave next to tiles in which grid and rows are looked for. */
const MAX_HEAD = 256 * 1024

const closeAsync = promisify(fs.close)
const readAsync = promisify(fs.readFile) as (fd: number) => Promise<Buffer>

export interface FolderMetadata extends TileSetMetadata {
  /** the bytes that were read, for the fingerprint */
  readonly content: readonly Uint8Array[]
  /** gdal2tiles has written the folder and counts rows from the south */
  readonly fromGdal: boolean
  /** why its tiles cannot be served, in words; null: nothing says so */
  readonly unserved: string | null
}

/**
 * The metadata next to the zoom folders of `folder`. A file that is broken or leads out of `root` is a warning, not an error.
 * @param names what is in the folder; left out: it is listed
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
 * @param readSmall the whole of a file of at most `MAX_FILE_BYTES`; null where it is not there, or is left out with a warning
 * @param otherPages names of pages next to the tiles, beyond those that are known; left out: a list is not to be had
 */
export async function readMetadataFiles(
  readSmall: (name: string, warnings: string[]) => Promise<Buffer | null>,
  otherPages: () => Promise<string[]> = async () => [],
): Promise<FolderMetadata> {
  const warnings: string[] = []
  const content: Uint8Array[] = []
  /** in the order in which they win, field by field */
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
  // In a store each further name is a request.
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

/** The first that says anything of the grid counts. */
function unservedBy(said: readonly ProducerFields[]): string | null {
  const first = said.find((fields) => fields.unserved !== undefined || GRID_FIELDS.some((field) => field in fields))
  return first?.unserved ?? null
}

function textOf(data: Buffer): string {
  return data.toString('utf8', 0, MAX_HEAD)
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
