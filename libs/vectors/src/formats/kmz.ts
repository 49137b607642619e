import fs from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { coded } from '@gateway/contracts/messages.js'
import { type Entry, fromFdPromise } from 'yauzl'
import { VectorFault } from '../index-file/vector-fault.js'
import { MAX_GDAL_BYTES } from './limits.js'
import { isOfMac } from './unpack-shapefiles.js'

/** Unpacks the largest document of a KMZ: the main one may only link to those with the features. */
export async function unpackKml(fd: number, target: string): Promise<void> {
  const zip = await fromFdPromise(fs.openSync(`/proc/self/fd/${fd}`, 'r'), { autoClose: false }).catch(() => null)
  if (zip === null) throw new VectorFault(coded('vector_unreadable'))
  try {
    let largest: Entry | null = null
    for await (const entry of zip.eachEntry()) {
      const { fileName, uncompressedSize } = entry
      const isDocument = /\.kml$/i.test(fileName) && !isOfMac(fileName) && uncompressedSize <= MAX_GDAL_BYTES
      if (isDocument && uncompressedSize > (largest?.uncompressedSize ?? 0)) largest = entry
    }
    if (largest === null) throw new VectorFault(coded('vector_unreadable'))
    await pipeline(await zip.openReadStreamPromise(largest), fs.createWriteStream(target))
  } finally {
    zip.close()
  }
}
