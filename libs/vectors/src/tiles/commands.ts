import type { Path } from './clip.js'

/** The commands of Mapbox Vector Tile 2.1, section 4.3. */
const MOVE = 1
const DRAW = 2
const CLOSE = 7
const CLOSE_ONCE = CLOSE | (1 << 3)

/** Appends the commands that draw paths. @param type 1: points, 2: lines, 3: polygons */
export function writeCommands(type: number, paths: readonly Path[], numbers: number[]): void {
  let x = 0
  let y = 0
  for (const path of paths) {
    const count = path.length / 2
    if (count === 0) continue
    numbers.push(MOVE | ((type === 1 ? count : 1) << 3))
    for (let i = 0; i < path.length; i += 2) {
      if (i === 2 && type !== 1) numbers.push(DRAW | ((count - 1) << 3))
      const nextX = path[i] as number
      const nextY = path[i + 1] as number
      numbers.push(zigzag(nextX - x), zigzag(nextY - y))
      x = nextX
      y = nextY
    }
    if (type === 3) numbers.push(CLOSE_ONCE)
  }
}

/** Returns the paths that commands draw. */
export function readCommands(commands: ArrayLike<number>): Path[] {
  const paths: Path[] = []
  let x = 0
  let y = 0
  for (let i = 0; i < commands.length; ) {
    const head = commands[i++] as number
    if ((head & 7) === CLOSE) continue
    if ((head & 7) === MOVE) paths.push([])
    // A tile from outside may announce more than it has.
    for (let n = head >> 3; n > 0 && i < commands.length; n--) {
      x += unzigzag(commands[i++] as number)
      y += unzigzag(commands[i++] as number)
      paths.at(-1)?.push(x, y)
    }
  }
  return paths
}

export function isPolygon(commands: ArrayLike<number>): boolean {
  return commands[commands.length - 1] === CLOSE_ONCE
}

function zigzag(value: number): number {
  return (value << 1) ^ (value >> 31)
}

function unzigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1)
}
