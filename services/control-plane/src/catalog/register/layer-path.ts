import { join } from 'node:path'
import { isRemote, pathBelow } from '@gateway/core/object-storage/location.js'

/** Where a version of a sliced layer is served from: its directory, or in a bucket its one object. */
export function layerPath(outputRoot: string, code: string, version: string): string {
  return isRemote(outputRoot) ? pathBelow(outputRoot, layerKey(code, version)) : join(outputRoot, code, version)
}

/** The object of a version, below SLICE_OUTPUT_ROOT. A version that is not known yet has none. */
export function layerKey(code: string, version: string): string {
  return version === '' ? code : `${code}/${version}.pmtiles`
}
