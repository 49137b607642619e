import fs from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import { openBelow } from '@gateway/core/files/open-below.js'
import type { ObjectFacts, ObjectStore } from '@gateway/core/object-storage/object-store.js'
import type { TextEncoding } from '../sync/catalog.js'
import { baseOf, closeAll, fingerprintOf, isCpg, missingCpg, type Sidecar, type SidecarSet } from './sidecars.js'

/** An object of a scan source. */
export interface RemoteObject {
  readonly store: ObjectStore
  readonly key: string
}

interface Part {
  readonly name: string
  readonly key: string
  readonly facts: ObjectFacts
}

export interface RemoteSidecars extends Pick<SidecarSet, 'cpg' | 'fingerprint' | 'modifiedMs'> {
  readonly parts: readonly Part[]
  /** Bytes of all parts. */
  readonly size: number
}

/** Does the part of `openSidecars` for objects that needs no content. Rejects with the error of the store. */
export async function findRemoteSidecars(
  { store, key }: RemoteObject,
  encoding: TextEncoding | null,
): Promise<RemoteSidecars | null> {
  const [folder, base] = [key.slice(0, key.lastIndexOf('/') + 1), baseOf(key)]
  const names: string[] = []
  for await (const entry of store.list(`${folder}${base}.`, { delimiter: '/' })) {
    const name = 'key' in entry ? entry.key.slice(folder.length) : ''
    if (isPartOfShapefile(base, name) && !(encoding?.isSet && isCpg(name))) names.push(name)
  }
  if (!names.includes(path.basename(key))) return null
  // Uses the tags of reads, because a list may write them differently.
  const parts = await Promise.all(
    names.sort().map(async (name) => ({ name, key: `${folder}${name}`, facts: await store.head(`${folder}${name}`) })),
  )
  const there = parts.filter((part): part is Part => part.facts !== undefined)
  const cpg = missingCpg(key, there, encoding)
  return {
    parts: there,
    cpg,
    fingerprint: fingerprintOf(
      there.map(({ name, facts }) => ({ name, identity: `${facts.etag}-${facts.size}` })),
      cpg,
    ),
    modifiedMs: Math.max(0, ...there.map(modifiedMs)),
    size: there.reduce((sum, { facts }) => sum + facts.size, 0),
  }
}

/**
 * Fetches the parts into files that are already unlinked when this returns. Rejects with the errors of the store and the disk.
 * @param temporary beginning of the names of these files
 */
export async function fetchSidecars(
  { store }: RemoteObject,
  { parts, cpg, fingerprint, modifiedMs: newestMs }: RemoteSidecars,
  temporary: string,
): Promise<SidecarSet> {
  const files: Sidecar[] = []
  try {
    for (const [i, part] of parts.entries()) files.push(await fetchPart(store, part, `${temporary}-${i}.tmp`))
    return { files, cpg, fingerprint, modifiedMs: newestMs }
  } catch (error) {
    closeAll(files)
    throw error
  }
}

async function fetchPart(store: ObjectStore, part: Part, temporary: string): Promise<Sidecar> {
  try {
    const { body } = await store.stream(part.key, { ifMatch: part.facts.etag, size: part.facts.size })
    await pipeline(body, fs.createWriteStream(temporary, { flags: 'wx' }))
    const opened = await openBelow(path.dirname(temporary), temporary)
    if (!opened.ok) throw new Error(`a file that was just fetched is ${opened.reason}`)
    return { name: part.name, file: { ...opened, mtimeMs: modifiedMs(part) } }
  } finally {
    await rm(temporary, { force: true })
  }
}

function modifiedMs({ facts }: Pick<Part, 'facts'>): number {
  return facts.modifiedAt?.getTime() ?? 0
}
