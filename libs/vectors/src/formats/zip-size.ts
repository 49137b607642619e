import { openSync } from 'node:fs'
import { fromFdPromise } from 'yauzl'

/** Maximum number of entries in a KMZ, which has a document and some images. */
const MAX_ENTRIES = 10_000

/** True if the declared sizes of a zip's entries fit in `maxBytes` together. If they are too small, the limits of its reader apply. */
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
    // The reader of the zip reports what is wrong with it.
    return true
  } finally {
    zip.close()
  }
}
