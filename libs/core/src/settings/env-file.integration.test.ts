import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { envLine, readEnvFile } from './env-file.js'

const execute = promisify(execFile)

let file: string
beforeAll(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'env-file-')), 'service.env')
})
afterAll(() => rm(join(file, '..'), { recursive: true }))

/** Returns the variables that `sh` has after `. FILE`. */
async function readByShell(path: string): Promise<Record<string, string>> {
  const script = 'set -eu; set -a; . "$1"; exec env -0'
  const { stdout } = await execute('sh', ['-c', script, 'sh', path], {
    env: { PATH: process.env.PATH },
  })
  const entries = stdout
    .split('\0')
    .map((entry): [string, string] => [entry.split('=', 1)[0] ?? '', entry.slice(entry.indexOf('=') + 1)])
  return Object.fromEntries(entries.filter(([name]) => !['', 'PATH', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)))
}

const HOSTILE = [
  'public, max-age=300',
  '$HOME and $USER$(id)',
  'pass#word',
  'word # no comment',
  "it's",
  "'",
  "''",
  "'quoted'",
  '"',
  'say "hello" and \'bye\'',
  'C:\\maps\\',
  "\\'",
  '`id`',
  '\\n is no line end',
  '密码 и пароль 🗺',
  ' blanks around ',
  'a;b&c|d>e<f(g)h*i?j[k]l~m!n{o}p^q',
  'postgres://gateway:p%40ss@db:5432/gateway?sslmode=verify-full&sslrootcert=/etc/ca.pem',
  '\ttab',
]

test('a POSIX shell and the gateway read a written value alike, whatever its characters are', async () => {
  const written = Object.fromEntries(HOSTILE.map((value, at) => [`VALUE_${at}`, value]))
  await writeFile(
    file,
    Object.entries(written)
      .map(([name, value]) => envLine(name, value))
      .join(''),
  )
  expect(readEnvFile(file)).toEqual(written)
  expect(await readByShell(file)).toEqual(written)
})

test('the last of several values counts for a shell and for the gateway, however each is quoted', async () => {
  await writeFile(file, `A='one'\nA=two\nB=one\nexport B='t'\\''wo' # a comment\nC="three"\n`)
  const values = { A: 'two', B: "t'wo", C: 'three' }
  expect([readEnvFile(file), await readByShell(file)]).toEqual([values, values])
})

test('a POSIX shell and the gateway read the example of an env file alike', async () => {
  const example = await readFile(new URL('../../../../config/service.env.example', import.meta.url), 'utf8')
  await writeFile(file, example.replaceAll(/^#(?=[A-Z])/gm, ''))
  expect(await readByShell(file)).toEqual(readEnvFile(file))
})
