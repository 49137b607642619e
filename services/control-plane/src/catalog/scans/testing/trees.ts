import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The smallest PNG: one grey pixel, for a walk a tile of 1 by 1. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)

export const POINT = '{"type":"Point","coordinates":[8,47]}'

/** A directory for one test. */
export interface Tree {
  readonly root: string
  /** writes a file, and the folders above it */
  put(path: string, content: string | Buffer): void
  /** returns the path of a file in it */
  at(path: string): string
  remove(): void
}

export function makeTree(): Tree {
  const root = mkdtempSync(join(tmpdir(), 'walk-'))
  const at = (path: string) => join(root, path)
  return {
    root,
    at,
    put: (path, content) => {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), content)
    },
    remove: () => rmSync(root, { recursive: true }),
  }
}

/** A square of `side` by `side` tiles at one zoom, all of them the same file under many names. */
export function putManyTiles(tree: Tree, version: string, z: number, side: number): void {
  const linksEach = 30_000
  for (let n = 0; n < side * side; n++) {
    const [x, y] = [Math.floor(n / side), n % side]
    if (y === 0) mkdirSync(tree.at(`${version}/${z}/${x}`), { recursive: true })
    const original = `.tile-${Math.floor(n / linksEach)}.png`
    if (n % linksEach === 0) tree.put(original, PIXEL)
    linkSync(tree.at(original), tree.at(`${version}/${z}/${x}/${y}.png`))
  }
}
