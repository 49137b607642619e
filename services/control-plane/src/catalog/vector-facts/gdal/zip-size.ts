import { openSync } from 'node:fs'
import { fromFdPromise } from 'yauzl'

/** Limit: entries of a KMZ, which has a document and some pictures. */
const MAX_ENTRIES = 10_000

/** Whether the entries of a zip claim no more than so many bytes together. What claims too little is ended by the limits of its reader. */
export async function zipIsSmall(fd: number, maxBytes: number): Promise<boolean> {
  const own = openSync(`/proc/self/fd/${fd}`, 'r')
  const zip = await fromFdPromise(own, { autoClose: false }).catch(() => null)
  if (zip === null) return true
  let bytes = 0
  let entries = 0
  try {
    for await (const { uncompressedSize } of zip.eachEntry()) {
      bytes += uncompressedSize
      if (bytes > maxBytes || ++entries > MAX_ENTRIES) return false
    }
    return true
  } catch {
    // Its reader says what is wrong with it.
    return true
  } finally {
    zip.close()
  }
}
