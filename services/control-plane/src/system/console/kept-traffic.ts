import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type KeptHistory, keptHistorySchema } from './traffic-history.js'

/** Below DATA_DIR. Some 40 KB, and more only by edge processes. */
const FILE_NAME = 'traffic-history.json'

/** What the process before has kept; null: nothing that can be used. */
export async function readKeptTraffic(dataDir: string): Promise<KeptHistory | null> {
  try {
    const kept = keptHistorySchema.safeParse(JSON.parse(await readFile(join(dataDir, FILE_NAME), 'utf8')))
    return kept.success ? kept.data : null
  } catch {
    return null
  }
}

/** Whole or not at all. Rejects with what the disk says. */
export async function keepTraffic(dataDir: string, history: KeptHistory): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const file = join(dataDir, FILE_NAME)
  const own = `${file}.${process.pid}.tmp`
  await writeFile(own, JSON.stringify(history), { mode: 0o600 })
  await rename(own, file)
}
