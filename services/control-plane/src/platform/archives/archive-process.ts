import { type ExportTask, writeExport } from '@gateway/tilesets/export/write-export.js'
import type { WrittenArchive } from '@gateway/tilesets/pmtiles/writer.js'
import { serve } from '../helper-process/serve.js'

/** A step is a thousandth of the tiles. */
serve<ExportTask, WrittenArchive>((task, progress) => writeExport(task, progress))
