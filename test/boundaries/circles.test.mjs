// dependency-cruiser reads no TSX, and biome's noImportCycles finds no cycle here, not even a planted one.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const CONSOLE = join(import.meta.dirname, '../../services/console/src')

/** Returns the local imports of each file, including types: `from './other.js'` and `import('./other.js')`. */
function importsBelow(folder) {
  const files = readdirSync(folder, { recursive: true }).flatMap((file) =>
    /\.tsx?$/.test(file) ? [join(folder, file)] : [],
  )
  const named = (file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)].map(([, name]) => name)
  const found = (file, name) => ['.ts', '.tsx'].map((ending) => resolve(file, '..', name) + ending).filter(existsSync)
  return new Map(files.map((file) => [file, named(file).flatMap((name) => found(file, name))]))
}

/** Returns the files of one cycle in the order of their imports, or null if there is no cycle. */
function findCircle(imports) {
  const done = new Set()
  const visit = (file, path) => {
    if (path.includes(file)) return path.slice(path.indexOf(file))
    if (done.has(file)) return null
    for (const other of imports.get(file) ?? []) {
      const circle = visit(other, [...path, file])
      if (circle !== null) return circle
    }
    done.add(file)
    return null
  }
  for (const file of imports.keys()) {
    const circle = visit(file, [])
    if (circle !== null) return circle
  }
  return null
}

test('no files of the console import each other in a cycle', () => {
  const imports = importsBelow(CONSOLE)
  expect([...imports.values()].flat().length).toBeGreaterThan(500)
  expect(findCircle(imports)).toBeNull()
})

test('a cycle is found, and a file that two others import is not a cycle', () => {
  const imports = new Map(Object.entries({ page: ['table', 'field'], table: ['field'], field: [] }))
  expect(findCircle(imports)).toBeNull()
  expect(findCircle(new Map([...imports, ['field', ['table']]]))).toEqual(['table', 'field'])
})
