import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { METADATA_FILE } from '@gateway/contracts/tiling/protocol.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { objectIdentity } from '@gateway/tilesets/cache-tags.js'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import { layerKey, layerPath } from '../catalog/register/layer-path.js'
import { versionRecord } from '../catalog/register/version-record.js'
import type { RunningJob } from '../jobs/running-job.js'
import { unpackArchive } from '../platform/archives/write-archive.js'
import type { ControlContext } from '../platform/context.js'
import { retryUntil } from '../platform/retry-until.js'
import type { JobLog } from './job-log.js'
import type { LayerPlace } from './layer-place.js'
import { writeLayerArchive } from './write-layer-archive.js'

/** Marker file in a folder of tiles: the ETag of the object with exactly these tiles. Without it the folder may have more tiles, or fewer. */
const MARK = '.published'

/**
 * Layers that are served from a bucket, with one PMTiles object for each version. Tiles are made in a local folder, which stays as a copy of the newest
 * version. If another control plane has replaced the object since, the copy is made again from the object.
 */
export interface PublishedLayers {
  /** Makes the folder of the version equal to its object; empty if the version has no object. */
  prepare(place: LayerPlace): Promise<void>
  /** Must be called before the folder changes: until it is published, the folder is not a copy. */
  beginChange(place: LayerPlace): Promise<void>
  /** Writes the version as one object, which replaces the previous one atomically. Returns its catalog entry. */
  publish(place: LayerPlace, described: NewVersion): Promise<NewVersion>
  close(): Promise<void>
}

/** null: layers are served from the directory in which they are made */
export function publishedLayers(
  { settings }: ControlContext,
  job: StoredSliceJob,
  running: RunningJob,
  log: JobLog,
): PublishedLayers | null {
  const { sliceOutputRoot, sliceWorkRoot } = settings
  const { targetCode } = job
  if (!isRemote(sliceOutputRoot)) return null
  const { signal } = running
  const store = openObjectStore(sliceOutputRoot, settings)
  const say = (text: string) => log.stream.write(`${text}\n`)

  async function prepareWrite(version: string): Promise<void> {
    const work = () => store.prepareWrite(layerKey(targetCode, version), { signal })
    await retryUntil(signal, work).catch((error: Error) => {
      signal.throwIfAborted()
      throw new CodedError(coded('slice_place_refused', { place: sliceOutputRoot, words: error.message }))
    })
  }

  return {
    async prepare({ layerDir, runDir, version }) {
      const key = layerKey(targetCode, version)
      // Hours of slicing must not end at a bucket that is absent or closed.
      await prepareWrite(version)
      const facts = await retryUntil(signal, () => store.head(key, { signal }))
      if (facts !== undefined && facts.etag === (await readMark(layerDir))) return
      await rm(layerDir, { recursive: true, force: true })
      if (facts === undefined) return
      say(`fetching the layer from ${layerPath(sliceOutputRoot, job, version)}`)
      const [archive, folder] = [join(runDir, 'fetched.pmtiles'), join(runDir, 'fetched')]
      try {
        await mkdir(runDir, { recursive: true })
        await retryUntil(signal, async () => {
          const { body } = await store.stream(key, { ifMatch: facts.etag, size: facts.size, signal })
          await pipeline(body, createWriteStream(archive), { signal })
        })
        await unpackArchive({ archive, folder, metadataFile: METADATA_FILE }, signal)
        await writeFile(join(folder, MARK), facts.etag)
        await rename(folder, layerDir)
      } finally {
        await rm(archive, { force: true })
        await rm(folder, { recursive: true, force: true })
      }
    },

    async beginChange({ layerDir, version }) {
      // A run that was killed may have left parts of its upload.
      await prepareWrite(version)
      await rm(join(layerDir, MARK), { force: true })
    },

    async publish({ layerDir, runDir, version }, described) {
      const key = layerKey(targetCode, version)
      // A writer that is killed leaves its temporary file, which is deleted with this folder.
      const folder = join(runDir, 'archive')
      const archive = join(folder, 'layer.pmtiles')
      try {
        say('writing the layer as one archive')
        await mkdir(folder, { recursive: true })
        const { bytes, tiles } = await writeLayerArchive({ layerDir, root: sliceWorkRoot, archive }, described, signal)
        say(`uploading ${bytes} bytes with ${tiles} tiles to ${layerPath(sliceOutputRoot, job, version)}`)
        // Like a folder, the object changes only under a lease that was confirmed just now.
        await running.confirm()
        signal.throwIfAborted()
        const contentType = 'application/vnd.pmtiles'
        const facts = await retryUntil(signal, () => store.write(key, archive, { contentType, signal }))
        await writeFile(join(layerDir, MARK), facts.etag)
        await removeOtherCopies(layerDir)
        const probe = await probeTileSet(sliceWorkRoot, archive)
        if (probe === null) throw new Error('the published layer holds no tile')
        const path = layerPath(sliceOutputRoot, job, version)
        return { ...versionRecord(version, path, probe), fingerprint: objectIdentity(facts) }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },

    close: () => store.close(),
  }
}

async function readMark(layerDir: string): Promise<string | null> {
  return readFile(join(layerDir, MARK), 'utf8').catch(() => null)
}

/** Images are added only to the newest version, so copies of others are not needed. */
async function removeOtherCopies(layerDir: string): Promise<void> {
  const layer = dirname(layerDir)
  for (const name of await readdir(layer)) {
    const copy = join(layer, name)
    if (copy !== layerDir && !name.startsWith('.')) await rm(copy, { recursive: true, force: true })
  }
}
