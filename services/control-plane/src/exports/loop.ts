import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { claimExport, EXPORTS_CHANNEL, knownExports, pruneExports } from '@gateway/store/exports.js'
import { runQueue } from '../jobs/run-queue.js'
import type { BackgroundLoop } from '../platform/background.js'
import type { ControlContext } from '../platform/context.js'
import { exportDirectory, idOfExportFile } from '../platform/files/export-files.js'
import { isUuid } from '../platform/http/input-validation.js'
import { runExport } from './run-export.js'

/** Writes exports, one at a time in the whole cluster: the control plane that claims the oldest unfinished export writes it. */
export const exportLoop: BackgroundLoop = {
  name: 'exports',
  run: (ctx) =>
    runQueue(ctx, {
      name: 'exports',
      channel: EXPORTS_CHANNEL,
      claim: (owner, leaseSeconds) => claimExport(ctx.sql, owner, leaseSeconds),
      run: (claimed, running) => runExport(ctx, claimed, running),
    }),
}

/** Age of leftovers. Writing an archive ends after a day, so one untouched for two days is from a killed process. */
const LEFT_MS = 2 * 24 * 3_600_000

/** Number of ids in one query. */
const BATCH = 1000

/** Deletes expired exports, and archives without an export. A record is stored before its archive exists. */
export async function removeOldExports({ sql, settings, now }: ControlContext): Promise<void> {
  await pruneExports(sql, settings.exportRetentionDays)
  const directory = exportDirectory(settings.dataDir)
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const archives = names.filter((name) => isUuid(idOfExportFile(name)))
  for (let at = 0; at < archives.length; at += BATCH) {
    const some = archives.slice(at, at + BATCH)
    const known = await knownExports(sql, some.map(idOfExportFile))
    for (const name of some) if (!known.has(idOfExportFile(name))) await rm(join(directory, name), { force: true })
  }
  for (const name of names.filter((one) => one.endsWith('.tmp'))) {
    const file = join(directory, name)
    const touched = (await stat(file).catch(() => null))?.mtimeMs
    if (touched !== undefined && touched < now() - LEFT_MS) await rm(file, { recursive: true, force: true })
  }
}
