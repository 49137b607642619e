import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { keyBelow } from '@gateway/core/object-storage/location.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import { type ObjectStoreSettings, openObjectStore } from '@gateway/core/object-storage/open.js'
import { exportDirectory } from '../platform/files/export-files.js'
import { fetchWhole } from './scans/remote/fetch.js'

type CopySettings = ObjectStoreSettings & { readonly dataDir: string }

/** Local files with the content of objects of a scan source, for code that cannot read ranges of objects. */
export interface LocalCopies {
  /** absolute path of a folder that holds only these files */
  readonly folder: string
  /** in the order of the requested paths */
  readonly files: readonly string[]
  remove(): Promise<void>
}

/**
 * Fetches objects of a remote scan source. Rejects if one is absent, or if all together are larger than `maxBytes`, and then leaves no files.
 * @param root location of the source
 * @param paths of different names, below it
 */
export async function copyHere(
  settings: CopySettings,
  root: string,
  paths: readonly string[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<LocalCopies> {
  const folder = join(exportDirectory(settings.dataDir), `.${randomUUID()}.tmp`)
  const store = openObjectStore(root, settings)
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const wanted: { key: string; facts: ObjectFacts; file: string }[] = []
    for (const path of paths) {
      const key = keyBelow(root, path)
      const facts = key === null ? undefined : await store.head(key, { signal })
      if (key === null || facts === undefined) throw new CodedError(coded('object_not_there', { path }))
      wanted.push({ key, facts, file: join(folder, basename(path)) })
    }
    const bytes = wanted.reduce((sum, { facts }) => sum + facts.size, 0)
    if (bytes > maxBytes) throw new CodedError(coded('object_room_exports', { bytes, room: maxBytes }))
    for (const { key, facts, file } of wanted) await fetchWhole(store, key, file, facts, signal)
    return { folder, files: wanted.map(({ file }) => file), remove }
  } catch (error) {
    await remove()
    throw error
  } finally {
    await store.close()
  }
}

/** Returns the paths of objects in a folder of a remote source whose names are wanted. An http(s) source cannot be listed. */
export async function pathsBeside(
  settings: ObjectStoreSettings,
  root: string,
  folder: string,
  isWanted: (name: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const store = openObjectStore(root, settings)
  try {
    const key = keyBelow(root, folder) ?? ''
    const prefix = key === '' ? '' : `${key}/`
    const paths: string[] = []
    for await (const entry of store.list(prefix, { delimiter: '/', signal })) {
      if ('key' in entry && isWanted(entry.key.slice(prefix.length))) paths.push(`${root}/${entry.key}`)
    }
    return paths
  } finally {
    await store.close()
  }
}
