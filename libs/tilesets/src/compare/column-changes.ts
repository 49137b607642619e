import fs from 'node:fs'
import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { type FolderSet, openColumn, openTileFile, readSome, readTileFile } from '../folder/column.js'
import type { SourceSpec } from '../source.js'
import { isSame, type TileChange } from './join-tiles.js'

export interface FolderPair {
  readonly left: FolderSet & Pick<SourceSpec, 'format'>
  readonly right: FolderSet & Pick<SourceSpec, 'format'>
}

export interface ComparedColumn {
  readonly z: number
  readonly x: number
  readonly minRow: number
  readonly maxRow: number
}

export interface ChangedTile {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly change: TileChange
}

/** The names of changes; their places are their numbers in `columnChanges`. */
export const CHANGES: readonly TileChange[] = ['added', 'changed', 'removed']

/**
 * Returns the rows of a column that differ, ascending, each followed by the number of its change. Contents are compared, since times and sizes prove
 * nothing; two links to one file are not read. Throws the disk's errors.
 */
export function columnChanges({ left, right }: FolderPair, { z, x, minRow, maxRow }: ComparedColumn): Uint32Array {
  const [one, other] = [openColumn(left, z, x), openColumn(right, z, x)]
  const found: number[] = []
  const add = (row: number, change: TileChange) => found.push(row, CHANGES.indexOf(change))
  const isPacked = isVectorFormat(left.format) && isVectorFormat(right.format)
  const [ones, others] = [one?.rows ?? [], other?.rows ?? []]
  // The next pair is probably linked if this one was. A look at both files costs as much as reading two small ones from memory.
  let isLinked = true
  for (let i = 0, j = 0; i < ones.length || j < others.length; ) {
    const row = Math.min(ones[i] ?? Number.POSITIVE_INFINITY, others[j] ?? Number.POSITIVE_INFINITY)
    const [before, after] = [ones[i] === row ? one : null, others[j] === row ? other : null]
    if (before) i++
    if (after) j++
    if (row < minRow || row > maxRow) continue
    const [old, young] = [before?.pathOf(row) ?? null, after?.pathOf(row) ?? null]
    if (old !== null && young !== null && isLinked) {
      isLinked = isOneFile(old, young)
      if (isLinked) continue
    }
    const change = changeOf(left, old, right, young, isPacked)
    if (change !== 'same') add(row, change)
  }
  return Uint32Array.from(found)
}

/** True for two hard links to one file. */
function isOneFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => fs.lstatSync(file, { throwIfNoEntry: false }))
  if (a === undefined || b === undefined) return false
  return a.ino === b.ino && a.dev === b.dev && a.isFile() && Number.isSafeInteger(a.ino)
}

const [ONE, OTHER] = [Buffer.allocUnsafeSlow(64 * 1024), Buffer.allocUnsafeSlow(64 * 1024)]

function changeOf(
  left: FolderSet,
  old: string | null,
  right: FolderSet,
  young: string | null,
  isPacked: boolean,
): TileChange | 'same' {
  const before = old === null ? null : openTileFile(left.root, old)
  let after: number | null = null
  try {
    after = young === null ? null : openTileFile(right.root, young)
    for (let isStart = true; ; isStart = false) {
      const length = before === null ? 0 : readSome(before, ONE)
      const otherLength = after === null ? 0 : readSome(after, OTHER)
      if (isStart && (length === 0 || otherLength === 0))
        return length === otherLength ? 'same' : length === 0 ? 'added' : 'removed'
      if (length !== otherLength || ONE.compare(OTHER, 0, length, 0, length) !== 0) break
      if (length < ONE.length) return 'same'
    }
  } finally {
    if (before !== null) fs.closeSync(before)
    if (after !== null) fs.closeSync(after)
  }
  if (!isPacked) return 'changed'
  const [one, other] = [readTileFile(left.root, old as string), readTileFile(right.root, young as string)]
  return one !== null && other !== null && isSame(one, other, true) ? 'same' : 'changed'
}
