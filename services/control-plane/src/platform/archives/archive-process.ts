import { serve } from '@gateway/core/processes/serve.js'
import { type UnpackTask, unpackPmtiles } from '@gateway/tilesets/export/unpack.js'
import { type DeltaTask, writeDelta } from '@gateway/tilesets/export/write-delta.js'
import { type ExportTask, writeExport } from '@gateway/tilesets/export/write-export.js'
import type { WrittenArchive } from '@gateway/tilesets/pmtiles/writer.js'

export type ArchiveTask =
  | ({ readonly what: 'write' } & ExportTask)
  | ({ readonly what: 'write delta' } & DeltaTask)
  | ({ readonly what: 'unpack' } & UnpackTask)
export type ArchiveAnswer = WrittenArchive | { readonly tiles: number }

/** One step of progress is a thousandth of the tiles. */
serve<ArchiveTask, ArchiveAnswer>((task, progress) => {
  switch (task.what) {
    case 'write':
      return writeExport(task, () => progress())
    case 'write delta':
      return writeDelta(task, () => progress())
    case 'unpack':
      return unpackPmtiles(task)
  }
})
