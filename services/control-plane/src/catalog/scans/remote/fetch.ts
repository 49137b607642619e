import { createWriteStream } from 'node:fs'
import { mkdir, open, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import type { ObjectFacts, ObjectStore } from '@gateway/core/object-storage/object-store.js'

/** Bytes of each end of an object that are fetched. Formats describe themselves there. */
const HEAD_BYTES = 1024 * 1024
const TAIL_BYTES = 64 * 1024

/** Bytes of a disk that stay free for others. */
const LEFT_FREE = 1024 ** 3

/** Fetches a whole object into a file, with the content that `facts` identify. Throws if the disk has no room for it. */
export async function fetchWhole(
  store: ObjectStore,
  key: string,
  file: string,
  facts: ObjectFacts,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const { bavail, bsize } = await statfs(dirname(file))
  if (facts.size + LEFT_FREE > bavail * bsize) throw new CodedError(coded('object_room_disk', { bytes: facts.size }))
  const { body } = await store.stream(key, { ifMatch: facts.etag, size: facts.size, signal })
  await pipeline(body, createWriteStream(file), { signal })
}

/** Creates a sparse file of the object's length that contains only its two ends. */
export async function fetchEnds(
  store: ObjectStore,
  key: string,
  file: string,
  { size, etag }: ObjectFacts,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const handle = await open(file, 'w')
  try {
    await handle.truncate(size)
    const head = await store.read(key, { offset: 0, length: HEAD_BYTES }, { signal, ifMatch: etag })
    await handle.write(head.bytes, 0, head.bytes.length, 0)
    const offset = Math.max(0, size - TAIL_BYTES)
    const tail = await store.read(key, { offset, length: TAIL_BYTES }, { signal, ifMatch: etag })
    await handle.write(tail.bytes, 0, tail.bytes.length, offset)
  } finally {
    await handle.close()
  }
}
