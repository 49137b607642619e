import { randomUUID } from 'node:crypto'
import { close } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { coded, messageOfError } from '@gateway/contracts/messages.js'
import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { CONTENT_TYPES, formatOfExtension } from '@gateway/tilesets/formats.js'
import { concurrently } from '../../platform/files/concurrently.js'
import { METADATA_NAMES } from '../../platform/files/tile-folder.js'
import type { Bundle, BundleFile } from '../files/bundle.js'
import { openSource } from '../files/open-source.js'
import { failure, type Outcome, success } from '../outcome.js'

/** Maximum number of objects that are written at the same time. */
const PARALLEL_OBJECTS = 8

export interface BucketDelivery {
  /** `s3://bucket/prefix` */
  readonly url: string
  /** id of the delivery */
  readonly id: string
  readonly event: unknown
  /** null: only the event, as `{id}.json` */
  readonly bundle: Bundle | null
}

export interface BucketTools {
  readonly openStore: (url: string) => ObjectStore
  /** directory for temporary files; it may not exist yet */
  readonly scratch: string
}

/**
 * Writes a delivery into a bucket, in the layout of a scan source below its prefix. Readers see each object completely or not at all. A version is one
 * object, an archive, if one archive can hold it. If it is many objects, those by which a scan finds it are written last.
 */
export async function deliverToBucket(
  { openStore, scratch }: BucketTools,
  { url, id, event, bundle }: BucketDelivery,
  signal: AbortSignal,
): Promise<Outcome> {
  const store = openStore(url)
  const folder = path.join(scratch, `.${randomUUID()}.tmp`)
  try {
    await mkdir(folder, { recursive: true })
    if (bundle === null) return await putEvent(store, folder, `${id}.json`, event, signal)
    if (bundle.asArchive !== undefined) return await putArchive(store, folder, bundle.asArchive, signal)
    return await putFiles(store, bundle, signal)
  } catch (error) {
    signal.throwIfAborted()
    const asked = error instanceof ObjectStoreTrouble ? String(error.retryAfterSeconds) : null
    return { ...failure(messageOfError(error)), retryAfter: asked }
  } finally {
    await rm(folder, { recursive: true, force: true })
    await store.close()
  }
}

async function putEvent(
  store: ObjectStore,
  folder: string,
  name: string,
  event: unknown,
  signal: AbortSignal,
): Promise<Outcome> {
  const file = path.join(folder, name)
  await writeFile(file, `${JSON.stringify(event)}\n`)
  await store.write(name, file, { contentType: 'application/json', signal })
  return success(coded('delivery_event_in_place', { name }))
}

async function putArchive(
  store: ObjectStore,
  folder: string,
  { name, write }: NonNullable<Bundle['asArchive']>,
  signal: AbortSignal,
): Promise<Outcome> {
  const file = path.join(folder, path.basename(name))
  await write(file, signal)
  const { size } = await store.write(name, file, { contentType: typeOf(name), signal })
  await removeSuperseded(store, name)
  return success(coded('delivery_one_object_in_place', { bytes: size }))
}

async function putFiles(store: ObjectStore, bundle: Bundle, signal: AbortSignal): Promise<Outcome> {
  const last: BundleFile[] = []
  let objects = 0
  let bytes = 0
  const put = async (file: BundleFile) => {
    signal.throwIfAborted()
    const { fd } = await openSource(bundle, file)
    try {
      // By its descriptor: the path might lead to another file than the one that was verified.
      const { size } = await store.write(file.name, `/proc/self/fd/${fd}`, { contentType: typeOf(file.name), signal })
      objects++
      bytes += size
    } finally {
      close(fd, () => {})
    }
  }
  await concurrently(bundle.files(), PARALLEL_OBJECTS, async (file) => {
    if (completesSet(file.name)) last.push(file)
    else await put(file)
  })
  for (const file of last) await put(file)
  if (objects === 0) return failure(coded('delivery_nothing_to_send'))
  if (bundle.kind === 'files') await removeSuperseded(store, bundle.place)
  return success(coded('delivery_objects_in_place', { count: objects, bytes }))
}

/** True for files by which a scan finds tiles in folders, and a shapefile. */
function completesSet(name: string): boolean {
  return METADATA_NAMES.includes(path.posix.basename(name)) || name.endsWith('.shp')
}

/** Removes the same version as another kind of archive, since a scan would find both. */
async function removeSuperseded(store: ObjectStore, name: string): Promise<void> {
  const other = { '.pmtiles': '.mbtiles', '.mbtiles': '.pmtiles' }[path.posix.extname(name)]
  if (other !== undefined) await store.remove(name.slice(0, -path.posix.extname(name).length) + other)
}

const TYPES: Readonly<Record<string, string>> = {
  '.pmtiles': 'application/vnd.pmtiles',
  '.mbtiles': 'application/vnd.mapbox-vector-tile+sqlite3',
  '.gpkg': 'application/geopackage+sqlite3',
  '.json': 'application/json',
  '.geojson': 'application/geo+json',
}

function typeOf(name: string): string {
  const extension = path.posix.extname(name)
  const format = formatOfExtension(extension.slice(1))
  return TYPES[extension] ?? (format === null ? 'application/octet-stream' : CONTENT_TYPES[format])
}
