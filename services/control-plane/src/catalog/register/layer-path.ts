import { join } from 'node:path'
import type { SliceOutput } from '@gateway/contracts/slice.js'
import { isRemote, pathBelow } from '@gateway/core/object-storage/location.js'

/** What of a slice job says where its layer lies. */
export interface Layer {
  readonly targetCode: string
  readonly output: SliceOutput
}

/** Where a version of a sliced layer is served from: its directory, or its one archive, as always in a bucket. */
export function layerPath(outputRoot: string, { targetCode, output }: Layer, version: string): string {
  if (isRemote(outputRoot)) return pathBelow(outputRoot, layerKey(targetCode, version))
  return output === 'pmtiles' ? join(outputRoot, layerKey(targetCode, version)) : join(outputRoot, targetCode, version)
}

/** The archive of a version, below SLICE_OUTPUT_ROOT. A version that is not known yet has none. */
export function layerKey(code: string, version: string): string {
  return version === '' ? code : `${code}/${version}.pmtiles`
}
