import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Limit: lines below which a file with one importer belongs into it. */
const SMALL = 40
/** A comment that begins so names the reason why a small file is separate. */
const SEAM = /\bSeam: \S/
/** Processes begin with these files, which therefore stay files. */
const PROCESSES = readFileSync(path.join(root, 'services/tools/setup/bundles.mjs'), 'utf8')
/** Files from before this rule. The list only gets shorter. */
const KNOWN = readFileSync(path.join(root, 'config/small-files.txt'), 'utf8').trim().split('\n')

interface SourceFile {
  readonly file: string
  readonly text: string
  /** Files of this repository that it imports. */
  readonly imports: ReadonlySet<string>
  /** Those of them that must stay files: they are of another package, or loaded on demand. */
  readonly separate: ReadonlySet<string>
}

function listed(...patterns: string[]): string[] {
  return execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })
    .trim()
    .split('\n')
}

function sourceFiles(): SourceFile[] {
  const names = listed('libs', 'services').filter(
    (file) => /\.(ts|tsx|mts)$/.test(file) && !/\.test\.|\/testing\/|\.d\.ts$/.test(file),
  )
  const known = new Set(names)
  const packages = new Map(
    listed('libs/*/package.json', 'services/*/package.json').map((file) => {
      const { name } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as { name: string }
      return [name, path.dirname(file)]
    }),
  )
  return names.map((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const resolved = (name: string): string[] => {
      const [, owner = '', inner = ''] = /^(@[^/]+\/[^/]+)\/(.+)$/.exec(name) ?? []
      const folder = packages.get(owner)
      if (!name.startsWith('.') && folder === undefined) return []
      const target = name.startsWith('.')
        ? path.join(path.dirname(file), name)
        : path.join(folder as string, 'src', inner)
      const base = target.replace(/\.m?jsx?$/, '')
      return ['.ts', '.tsx', '.mts'].map((end) => base + end).filter((one) => known.has(one) && one !== file)
    }
    const found = [...text.matchAll(/(?:from|import)\s*(\(?)\s*['"]([^'"]+)['"]/g)]
    const imports = found.flatMap(([, , name = '']) => resolved(name))
    const separate = found.flatMap(([, call, name = '']) =>
      call === '(' || !name.startsWith('.') ? resolved(name) : [],
    )
    return { file, text, imports: new Set(imports), separate: new Set(separate) }
  })
}

test('a small file that only one other file imports belongs into that file', () => {
  const files = sourceFiles()
  const importers = new Map<string, Set<string>>()
  for (const { file, imports } of files)
    for (const imported of imports) importers.set(imported, (importers.get(imported) ?? new Set()).add(file))
  const separate = new Set(files.flatMap((one) => [...one.separate]))
  const isProcess = (file: string) => PROCESSES.includes(file.replace('/src/', '/dist/').replace(/\.ts$/, '.js'))
  const small = files
    .filter(({ file, text }) => importers.get(file)?.size === 1 && text.split('\n').length - 1 < SMALL)
    .filter(({ file }) => !separate.has(file) && !isProcess(file))
  const unexplained = small.filter(({ text }) => !SEAM.test(text)).map(({ file }) => file)
  expect(unexplained.filter((file) => !KNOWN.includes(file))).toEqual([])
  // A line of config/small-files.txt whose file is gone, has grown or has more importers is removed.
  expect(KNOWN.filter((file) => !unexplained.includes(file))).toEqual([])
})
