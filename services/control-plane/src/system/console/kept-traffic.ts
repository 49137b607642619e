import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type KeptHistory, keptHistorySchema } from './traffic-history.js'

/** File below DATA_DIR. It has some 40 KB, and grows only with the number of edge processes. */
const FILE_NAME = 'traffic-history.json'

/** Returns the history that the previous process kept; null if it is unusable. */
export async function readKeptTraffic(dataDir: string): Promise<KeptHistory | null> {
  try {
    const kept = keptHistorySchema.safeParse(JSON.parse(await readFile(join(dataDir, FILE_NAME), 'utf8')))
    return kept.success ? kept.data : null
  } catch {
    return null
  }
}

/** Writes the history atomically. Rejects with the disk's error. */
export async function keepTraffic(dataDir: string, history: KeptHistory): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const file = join(dataDir, FILE_NAME)
  const own = `${file}.${process.pid}.tmp`
  await writeFile(own, JSON.stringify(history), { mode: 0o600 })
  await rename(own, file)
}
