/** Boxes in a node of the tree. */
export const NODE_SIZE = 16
const NODE_BYTES = 40
/** Cells along a side of the grid on which features are ordered. */
const GRID = 65_535

type Box = readonly [number, number, number, number]

/** The index of FlatGeobuf: a packed R-tree over features in the order of a Hilbert curve, from the root to the leaves. */
export class PackedTree {
  readonly #boxes: Float64Array
  readonly #lengths: Float64Array
  readonly #positions: Float64Array
  #order = new Uint32Array(0)
  #count = 0
  #end = 0
  box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]

  /** @param count of features that will be added */
  constructor(count: number) {
    this.#boxes = new Float64Array(4 * count)
    this.#lengths = new Float64Array(count)
    this.#positions = new Float64Array(count)
  }

  /** @param length bytes of the feature, which follows the previous one */
  add(box: Box, length: number): void {
    const i = this.#count++
    this.#boxes.set(box, 4 * i)
    this.#lengths[i] = length
    this.#positions[i] = this.#end
    this.#end += length
    this.box = united(this.box, box)
  }

  finish(): void {
    const [west, south, east, north] = this.box
    const [width, height] = [east - west || 1, north - south || 1]
    const codes = new Float64Array(this.#count)
    for (let i = 0; i < this.#count; i++) {
      const box = this.#boxOf(i)
      const x = Math.floor((GRID * ((box[0] + box[2]) / 2 - west)) / width)
      const y = Math.floor((GRID * ((box[1] + box[3]) / 2 - south)) / height)
      codes[i] = hilbert(x, y)
    }
    this.#order = Uint32Array.from({ length: this.#count }, (_, i) => i).sort(
      (a, b) => (codes[a] as number) - (codes[b] as number),
    )
  }

  /** The features in their order in the file. */
  *leaves(): Generator<{ position: number; length: number }, void> {
    for (const i of this.#order) yield { position: this.#positions[i] as number, length: this.#lengths[i] as number }
  }

  /** Writes the levels from the root to the leaves. An inner node names its first child, and a leaf the position of its feature. */
  write(out: (bytes: Uint8Array) => void): void {
    const levels: { box: Box; target: number }[][] = []
    let position = 0
    let level = Array.from(this.#order, (i) => {
      const leaf = { box: this.#boxOf(i), target: position }
      position += this.#lengths[i] as number
      return leaf
    })
    levels.push(level)
    // A single feature has a root above it too.
    do {
      const parents: { box: Box; target: number }[] = []
      for (let first = 0; first < level.length; first += NODE_SIZE) {
        const box = level
          .slice(first, first + NODE_SIZE)
          .reduce<Box>((all, node) => united(all, node.box), level[first]?.box as Box)
        parents.push({ box, target: first })
      }
      levels.push(parents)
      level = parents
    } while (level.length > 1)
    // Children are counted from the root.
    let offset = 0
    for (let depth = levels.length - 1; depth >= 0; depth--) {
      const nodes = levels[depth] as { box: Box; target: number }[]
      offset += nodes.length
      for (const { box, target } of nodes) {
        const bytes = Buffer.alloc(NODE_BYTES)
        box.forEach((value, k) => void bytes.writeDoubleLE(value, 8 * k))
        bytes.writeBigUInt64LE(BigInt(depth === 0 ? target : offset + target), 32)
        out(bytes)
      }
    }
  }

  #boxOf(i: number): Box {
    return [...this.#boxes.subarray(4 * i, 4 * i + 4)] as unknown as Box
  }
}

function united(a: Box, b: Box): [number, number, number, number] {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
}

/** Returns the place of a cell on a Hilbert curve through a grid of 65,536 cells a side. */
function hilbert(x: number, y: number): number {
  let place = 0
  for (let side = 32_768; side > 0; side >>= 1) {
    const right = (x & side) > 0 ? 1 : 0
    const upper = (y & side) > 0 ? 1 : 0
    place += side * side * ((3 * right) ^ upper)
    if (upper === 0) {
      if (right === 1) {
        x = GRID - x
        y = GRID - y
      }
      ;[x, y] = [y, x]
    }
  }
  return place
}
