import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { redChecks } from '../../deploy/release/checks.mjs'

const page = (...rows) =>
  [
    '# Checks',
    '',
    '| check | command | commit | date | processor | result |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')

test('a check is red if it did not pass, or if the code has changed since', () => {
  const rows = [
    '| suite | `npm test` | aaaaaaa | 2026-11-28 | AMD EPYC | passed: 6,000 |',
    '| soak | `npm run soak` | bbbbbbb | 2026-11-20 | AMD EPYC | passed |',
    '| kills | `npm run kills` | – | – | – | not run |',
  ]
  expect(redChecks(page(...rows), (commit) => commit === 'aaaaaaa')).toEqual([
    'soak: the code has changed since bbbbbbb',
    'kills: not run',
  ])
  expect(redChecks(page(), () => true)).toEqual(['the table is empty'])
})

test('every row of the table has a command, and every check of the procedure has a row', () => {
  const text = readFileSync(new URL('../../docs/releases/checks.md', import.meta.url), 'utf8')
  const rows = text.split('\n').filter((line) => line.startsWith('| '))
  for (const row of rows.slice(1)) expect([row, row.split('|').length]).toEqual([row, 8])
  const procedure =
    readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8').split('## A release')[1] ?? ''
  for (const [, script] of procedure.matchAll(/`npm run ([\w:]+)/g))
    if (!['version:set', 'release', 'images', 'doctor'].includes(script)) expect(text).toContain(`npm run ${script}`)
})
