import { type UnpackTask, unpackPmtiles } from '@gateway/tilesets/export/unpack.js'
import { type ExportTask, writeExport } from '@gateway/tilesets/export/write-export.js'
import type { WrittenArchive } from '@gateway/tilesets/pmtiles/writer.js'
import { serve } from '../helper-process/serve.js'

export type ArchiveTask = ({ readonly what: 'write' } & ExportTask) | ({ readonly what: 'unpack' } & UnpackTask)
export type ArchiveAnswer = WrittenArchive | { readonly tiles: number }

/** A step of writing is a thousandth of the tiles. */
serve<ArchiveTask, ArchiveAnswer>((task, progress) =>
  task.what === 'write' ? writeExport(task, progress) : unpackPmtiles(task),
)
