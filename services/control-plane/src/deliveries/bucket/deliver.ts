import { randomUUID } from 'node:crypto'
import { close } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { coded, messageOfError } from '@gateway/contracts/messages.js'
import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { concurrently } from '../../platform/files/concurrently.js'
import { METADATA_NAMES } from '../../platform/files/tile-folder.js'
import type { Bundle, BundleFile } from '../files/bundle.js'
import { openSource } from '../files/open-source.js'
import { failure, type Outcome, success } from '../outcome.js'

/** Objects written at a time. */
const PARALLEL_OBJECTS = 8

export interface BucketDelivery {
  /** `s3://bucket/prefix` */
  readonly url: string
  /** the delivery's */
  readonly id: string
  readonly event: unknown
  /** null: the event alone, as `{id}.json` */
  readonly bundle: Bundle | null
}

export interface BucketTools {
  readonly openStore: (url: string) => ObjectStore
  /** a directory for files that are made on the way; it may not exist yet */
  readonly scratch: string
}

/**
 * Puts a delivery into a bucket, laid out like a scan source below its prefix. Whoever reads it sees each object whole; a version is one object, an archive,
 * wherever one archive can hold it. Where it is many, what makes a scan find them is written last.
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
      // By its descriptor: by its path it might be another file than the one that was proven to lie in the root.
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

/** By these a scan finds tiles in folders, and a shapefile. */
function completesSet(name: string): boolean {
  return METADATA_NAMES.includes(path.posix.basename(name)) || name.endsWith('.shp')
}

/** The same version as the other kind of archive: a scan would find both. */
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
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.pbf': 'application/x-protobuf',
  '.mvt': 'application/x-protobuf',
}

function typeOf(name: string): string {
  return TYPES[path.posix.extname(name)] ?? 'application/octet-stream'
}
