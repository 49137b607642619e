import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '@gateway/store/connect.js'
import { migrate } from '@gateway/store/migrate.js'
import { startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import { laySampleFiles } from './files.js'
import { fillSample } from './rows.js'

/** Creates a data directory with the sample unless it exists. A gateway started on it scans the files. */
export async function makeSample(dataDir: string): Promise<void> {
  if (existsSync(dataDir)) return
  await mkdir(dataDir, { recursive: true })
  const dir = join(dataDir, 'sample')
  await laySampleFiles(dir)
  const postgres = await startEmbeddedPostgres({
    dir: join(dataDir, 'postgres'),
    log: (level, message) => level === 'error' && process.stderr.write(`${message}\n`),
    onLost: (reason) => {
      throw new Error(reason)
    },
  })
  try {
    await fillSampleDatabase(postgres.url, dir)
  } finally {
    await postgres.stop()
  }
}

/** Migrates an empty database and fills it for the files below `dir`. */
export async function fillSampleDatabase(url: string, dir: string): Promise<void> {
  const sql = openStore(url, { applicationName: 'sample', maxConnections: 1 })
  try {
    await migrate(sql)
    await fillSample(sql, dir)
  } finally {
    await sql.end()
  }
}
