import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { METADATA_FILE } from '@gateway/contracts/tiling/protocol.js'
import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import { layerPath } from '../catalog/register/layer-path.js'
import { versionRecord } from '../catalog/register/version-record.js'
import type { RunningJob } from '../jobs/running-job.js'
import { unpackArchive } from '../platform/archives/write-archive.js'
import type { ControlContext } from '../platform/context.js'
import type { JobLog } from './job-log.js'
import type { PublishedLayers } from './published-layers.js'
import { writeLayerArchive } from './write-layer-archive.js'

/**
 * Layers on this disk with one PMTiles archive for each version. During a job, tiles are made in a folder, into which the existing archive of the
 * version is unpacked first. The new archive is then renamed over the old one, so a version is never a mixture. null: the job makes a folder.
 */
export function archivedLayers(
  { settings }: ControlContext,
  job: StoredSliceJob,
  running: RunningJob,
  log: JobLog,
): PublishedLayers | null {
  if (job.output !== 'pmtiles') return null
  const { sliceOutputRoot: root } = settings
  const { signal } = running
  const say = (text: string) => log.stream.write(`${text}\n`)

  return {
    async prepare({ layerDir, version }) {
      const archive = layerPath(root, job, version)
      if (!existsSync(archive)) return
      say(`unpacking the layer from ${archive}`)
      await unpackArchive({ archive, folder: layerDir, metadataFile: METADATA_FILE }, signal)
    },

    async beginChange() {},

    async publish({ layerDir, runDir, version }, described) {
      say('writing the layer as one archive')
      const folder = join(runDir, 'archive')
      await mkdir(folder, { recursive: true })
      const written = join(folder, 'layer.pmtiles')
      const { bytes, tiles } = await writeLayerArchive({ layerDir, root, archive: written }, described, signal)
      // The served archive changes only under a lease that was confirmed just now.
      await running.confirm()
      signal.throwIfAborted()
      const archive = layerPath(root, job, version)
      await rename(written, archive)
      say(`wrote ${bytes} bytes with ${tiles} tiles to ${archive}`)
      const probe = await probeTileSet(root, archive)
      if (probe === null) throw new Error('the archive of the layer holds no tile')
      return versionRecord(version, archive, probe)
    },

    // All of it lies in the folder of the run.
    async close() {},
  }
}
