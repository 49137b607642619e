import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory for one test. */
export interface Tree {
  readonly root: string
  put(path: string, content: string | Buffer): void
  /** returns the path of a file in it */
  at(path: string): string
  remove(): void
}

export function makeTree(): Tree {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'formats-'))
  const at = (path: string) => join(root, path)
  return {
    root,
    at,
    put: (path, content) => writeFileSync(at(path), content),
    remove: () => rmSync(root, { recursive: true }),
  }
}
