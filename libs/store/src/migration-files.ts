/** The files of `migrations/`, whose first lines say how they are applied. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const DIRECTORY = fileURLToPath(new URL('../migrations/', import.meta.url))

export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly checksum: string
  /** checksums of earlier texts, with which a store was migrated to the same schema: `-- earlier: CHECKSUM` */
  readonly earlierChecksums: readonly string[]
  /** true if the previous version runs on a store with this migration: `-- compatible: yes` */
  readonly compatible: boolean
  /** false if the file has only statements `CREATE INDEX CONCURRENTLY IF NOT EXISTS`, which cannot run in a transaction: `-- transaction: no` */
  readonly inTransaction: boolean
}

export function readMigrations(directory: string = DIRECTORY): readonly Migration[] {
  return readdirSync(directory)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(`${directory}/${name}`, 'utf8')
      const marks = marksOf(text)
      return {
        number: Number(name.slice(0, 4)),
        name,
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
        earlierChecksums: marks.flatMap(([key, value]) => (key === 'earlier' ? value : [])),
        compatible: marks.some(([key, value]) => key === 'compatible' && value === 'yes'),
        inTransaction: !marks.some(([key, value]) => key === 'transaction' && value === 'no'),
      }
    })
}

/** The marks at the beginning of a file; a mark below another line does not count. */
function marksOf(text: string): [key: string, value: string][] {
  const marks: [string, string][] = []
  for (const line of text.split('\n')) {
    const mark = /^-- (compatible|transaction|earlier): (\w+)\s*$/.exec(line)
    if (mark === null) break
    marks.push([mark[1]!, mark[2]!])
  }
  return marks
}
