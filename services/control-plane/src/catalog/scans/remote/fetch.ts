import { createWriteStream } from 'node:fs'
import { mkdir, open, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import type { ObjectFacts, ObjectStore } from '@gateway/core/object-storage/object-store.js'

/** Limits: bytes of each end of an object of which no more is fetched. Formats say what they are, and of what, in these. */
const HEAD_BYTES = 1024 * 1024
const TAIL_BYTES = 64 * 1024

/** What of a disk is left free for others. Bytes. */
const LEFT_FREE = 1024 ** 3

/** The whole of an object as a file, of the content that `facts` name. Throws where the disk has no room for it. */
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

/** A file of the object's length with its two ends, and nothing between them. */
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
