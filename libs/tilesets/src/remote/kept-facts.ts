import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import type { BlockCache } from './block-cache.js'
import type { RemoteObject } from './object-reader.js'

const SUFFIX = '.facts'

/**
 * Returns the facts of an object. If the store does not respond, returns those of the last request by a process of this machine, so that cached
 * content stays readable. undefined: the object does not exist. Rejects like `ObjectStore.head`.
 */
export async function findFacts({ store, key }: RemoteObject, cache: BlockCache): Promise<ObjectFacts | undefined> {
  const name = createHash('sha256').update(`${store.url}/${key}`).digest('hex').slice(0, 32)
  const file = path.join(cache.directory, `${name}${SUFFIX}`)
  try {
    const facts = await store.head(key)
    if (facts !== undefined && cache.mayFill) void keep(file, facts).catch((error) => cache.failed(error))
    return facts
  } catch (error) {
    const kept = error instanceof ObjectStoreTrouble ? await readKept(file) : null
    if (kept === null) throw error
    return kept
  }
}

async function keep(file: string, { size, etag, modifiedAt }: ObjectFacts): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const text = JSON.stringify({ size, etag, modifiedMs: modifiedAt?.getTime() ?? null })
  await writeFileAtomically(file, text, { mode: 0o600 })
}

/** null: no reliable facts */
async function readKept(file: string): Promise<ObjectFacts | null> {
  try {
    const { size, etag, modifiedMs } = JSON.parse(await fs.readFile(file, 'utf8'))
    if (!Number.isSafeInteger(size) || typeof etag !== 'string') return null
    return { size, etag, modifiedAt: typeof modifiedMs === 'number' ? new Date(modifiedMs) : null }
  } catch {
    return null
  }
}
