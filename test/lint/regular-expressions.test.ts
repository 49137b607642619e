import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const CHECK = fileURLToPath(new URL('regular-expressions.mjs', import.meta.url))

function judge(source: string): { code: number | null; said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-expressions-'))
  try {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src', 'planted.tsx'), source)
    const { status, stderr } = spawnSync(process.execPath, [CHECK, folder], { encoding: 'utf8' })
    return { code: status, said: stderr }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.each([
  ['exponential', 'const a: RegExp = /^(a+)+$/'],
  ['a Range header', String.raw`export const a = <b>{/^bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.test('x')}</b>`],
  ['a search that starts anew at each character', String.raw`'x'.replace(/\/+$/, '')`],
  ['a constant text', "new RegExp('^(a|aa)+$')"],
  ['put together at run time', "RegExp('a+' + process.pid)"],
])('the check of regular expressions refuses: %s', (_, planted) => {
  const { code, said } = judge(planted)
  expect(said).toContain('planted.tsx:1: ')
  expect(code).toBe(1)
})

test('the check of regular expressions accepts linear ones', () => {
  expect(judge("const a: RegExp = /^bmp_[0-9A-Za-z]{38}$/; new RegExp('^a+$')")).toEqual({
    code: 0,
    said: '',
  })
})
