import { PbfWriter } from 'pbf'
import type { Path } from './clip.js'
import { EXTENT } from './grid.js'

export type Tags = ReadonlyMap<string, string | number | boolean>

/** A feature as a tile has it: units from the tile's corner, rings without a repeated last point and turned as the format has them. */
export interface TileFeature {
  readonly layer: string
  readonly type: 1 | 2 | 3
  readonly paths: readonly Path[]
  /** null: none */
  readonly id: number | null
  readonly tags: Tags
}

const MOVE = 1
const DRAW = 2
const CLOSE = 15

/** Mapbox Vector Tile 2.1. */
export function encodeTile(features: readonly TileFeature[]): Uint8Array {
  const layers = new Map<string, TileFeature[]>()
  for (const feature of features) {
    const known = layers.get(feature.layer)
    if (known === undefined) layers.set(feature.layer, [feature])
    else known.push(feature)
  }
  const pbf = new PbfWriter()
  for (const [name, content] of layers) pbf.writeMessage(3, () => writeLayer(pbf, name, content), null)
  return pbf.finish()
}

function writeLayer(pbf: PbfWriter, name: string, features: readonly TileFeature[]): void {
  const keys = new Numbers<string>()
  const values = new Numbers<string | number | boolean>()
  pbf.writeVarintField(15, 2)
  pbf.writeStringField(1, name)
  pbf.writeVarintField(5, EXTENT)
  for (const { id, type, paths, tags } of features) {
    pbf.writeMessage(
      2,
      () => {
        if (id !== null) pbf.writeVarintField(1, id)
        const numbers: number[] = []
        for (const [key, value] of tags) numbers.push(keys.of(key), values.of(value))
        if (numbers.length > 0) pbf.writePackedVarint(2, numbers)
        pbf.writeVarintField(3, type)
        pbf.writePackedVarint(4, commands(type, paths))
      },
      null,
    )
  }
  for (const key of keys.all) pbf.writeStringField(3, key)
  for (const value of values.all) pbf.writeMessage(4, () => writeValue(pbf, value), null)
}

function writeValue(pbf: PbfWriter, value: string | number | boolean): void {
  if (typeof value === 'string') pbf.writeStringField(1, value)
  else if (typeof value === 'boolean') pbf.writeBooleanField(7, value)
  else if (!Number.isSafeInteger(value)) pbf.writeDoubleField(3, value)
  else if (value < 0) pbf.writeSVarintField(6, value)
  else pbf.writeVarintField(5, value)
}

/** Gives each value a number, by its first use. A Map tells 1 from '1' and from true. */
class Numbers<T> {
  readonly #numbers = new Map<T, number>()

  of(value: T): number {
    const known = this.#numbers.get(value)
    if (known !== undefined) return known
    this.#numbers.set(value, this.#numbers.size)
    return this.#numbers.size - 1
  }

  get all(): Iterable<T> {
    return this.#numbers.keys()
  }
}

function commands(type: TileFeature['type'], paths: readonly Path[]): number[] {
  const numbers: number[] = []
  let x = 0
  let y = 0
  const go = (path: Path, i: number) => {
    const [nextX, nextY] = [path[i] as number, path[i + 1] as number]
    numbers.push(zigzag(nextX - x), zigzag(nextY - y))
    x = nextX
    y = nextY
  }
  for (const path of paths) {
    const count = path.length / 2
    numbers.push(MOVE | ((type === 1 ? count : 1) << 3))
    go(path, 0)
    if (type !== 1) numbers.push(DRAW | ((count - 1) << 3))
    for (let i = 2; i < path.length; i += 2) go(path, i)
    if (type === 3) numbers.push(CLOSE)
  }
  return numbers
}

function zigzag(value: number): number {
  return (value << 1) ^ (value >> 31)
}
