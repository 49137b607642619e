import { join } from 'node:path'
import type { SliceOutput } from '@gateway/contracts/slice.js'
import { isRemote, pathBelow } from '@gateway/core/object-storage/location.js'

/** The fields of a slice job that determine the place of its layer. */
export interface Layer {
  readonly targetCode: string
  readonly output: SliceOutput
}

/** Returns the path from which a version of a sliced layer is served: its directory, or its archive, which it always has in a bucket. */
export function layerPath(outputRoot: string, { targetCode, output }: Layer, version: string): string {
  if (isRemote(outputRoot)) return pathBelow(outputRoot, layerKey(targetCode, version))
  return output === 'pmtiles' ? join(outputRoot, layerKey(targetCode, version)) : join(outputRoot, targetCode, version)
}

/** Returns the archive of a version, below SLICE_OUTPUT_ROOT. An unknown version has none. */
export function layerKey(code: string, version: string): string {
  return version === '' ? code : `${code}/${version}.pmtiles`
}
