import { HelperProcess } from '@gateway/core/processes/helper-process.js'
import type { StoredVersion } from '@gateway/store/basemaps.js'
import type { UnpackTask } from '@gateway/tilesets/export/unpack.js'
import type { DeltaTask } from '@gateway/tilesets/export/write-delta.js'
import type { ExportTask } from '@gateway/tilesets/export/write-export.js'
import type { WrittenArchive } from '@gateway/tilesets/pmtiles/writer.js'
import type { ArchiveAnswer, ArchiveTask } from './archive-process.js'

/** The built file, even when the sources run (in tests). */
const ARCHIVE_PROCESS = new URL('../../../dist/platform/archives/archive-process.js', import.meta.url)

/**
 * Writes a set, a part of it, or its differences from an older one as a PMTiles archive, completely or not at all. A separate process reads and packs
 * the tiles, so requests are not delayed, and a disk that hangs can be abandoned. Rejects with a message for the operator, or the signal's reason.
 * @param onProgress called at most once a second, with the completed percentage
 */
export async function writeArchive(
  task: ExportTask | DeltaTask,
  signal: AbortSignal,
  onProgress: (percent: number) => void = () => {},
): Promise<WrittenArchive> {
  const done = (thousandths: number) => onProgress(thousandths / 10)
  const asked = 'older' in task ? ({ ...task, what: 'write delta' } as const) : ({ ...task, what: 'write' } as const)
  return (await inProcess(asked, signal, done)) as WrittenArchive
}

/** Extracts the tiles of an archive into a folder, in a separate process. Rejects like `writeArchive`; the caller removes a partial folder. */
export async function unpackArchive(task: UnpackTask, signal: AbortSignal): Promise<void> {
  await inProcess({ ...task, what: 'unpack' }, signal, () => {})
}

async function inProcess(
  task: ArchiveTask,
  signal: AbortSignal,
  onProgress: (steps: number) => void,
): Promise<ArchiveAnswer> {
  const helper = new HelperProcess<ArchiveTask, ArchiveAnswer>(ARCHIVE_PROCESS)
  try {
    return await helper.ask(task, signal, onProgress)
  } finally {
    helper.end()
  }
}

/** Returns the metadata of an archive of a version, by the keys of TileJSON 3.0. */
export function archiveMetadata(
  name: string,
  version: Pick<StoredVersion, 'version' | 'attribution' | 'description' | 'vectorLayers' | 'metadata'>,
): Record<string, unknown> {
  const { attribution, description, vectorLayers, metadata, version: label } = version
  return {
    ...metadata,
    name,
    version: label,
    ...(attribution !== null && { attribution }),
    ...(description !== null && { description }),
    ...(vectorLayers !== null && { vector_layers: vectorLayers }),
  }
}
