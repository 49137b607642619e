import path from 'node:path'
import { isInPyramid, MAX_ZOOM, parseIndex } from '../address.js'
import { isTileName, listNames, listNumbers, spread } from './listing.js'

/** Limits: folders of each level that are listed. */
const MAX_FIRST = 32
const MAX_SECOND = 8

/**
 * True if the folders are `{y}/{x}/{z}` (MapProxy's `directory_layout: reverse_tms`) instead of `{z}/{x}/{y}`: every sampled tile has a valid place in
 * that order, and some have none in the other.
 */
export async function isReversed(root: string, folder: string): Promise<boolean> {
  let impossible = 0
  for (const first of spread(await listNumbers(root, folder), MAX_FIRST)) {
    for (const second of spread(await listNumbers(root, path.join(folder, String(first))), MAX_SECOND)) {
      for (const name of await listNames(root, path.join(folder, String(first), String(second)))) {
        if (!isTileName(name)) continue
        const third = parseIndex(name.slice(0, name.indexOf('.')))
        if (third > MAX_ZOOM || !isInPyramid(third, second, first, 'WorldCRS84Quad')) return false
        if (!isInPyramid(first, second, third, 'WorldCRS84Quad')) impossible++
      }
    }
  }
  return impossible > 1
}

export const REVERSED =
  "its folders are {y}/{x}/{z} (MapProxy's directory_layout reverse_tms); only {z}/{x}/{y} is served: seed the cache with directory_layout tms"
