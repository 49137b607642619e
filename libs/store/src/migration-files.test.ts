import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readMigrations } from './migration-files.js'

test('a migration is compatible only if its first line says so', () => {
  const dir = mkdtempSync(join(tmpdir(), 'migrations-'))
  const texts = {
    '0001_yes.sql': '-- compatible: yes\nSELECT 1;\n',
    '0002_no.sql': '-- compatible: no\nSELECT 1;\n',
    '0003_silent.sql': 'SELECT 1;\n-- compatible: yes\n',
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(dir, name), text)
  const read = readMigrations(dir).map(({ number, compatible }) => [number, compatible])
  expect(read).toEqual([
    [1, true],
    [2, false],
    [3, false],
  ])
  rmSync(dir, { recursive: true })
})

test('the version before runs on every migration since 0.1.0, and a migration without a transaction only builds indexes', () => {
  const migrations = readMigrations()
  expect(migrations.filter(({ compatible }) => !compatible).map(({ number }) => number)).toEqual([1, 3, 4, 6])
  const beside = migrations.filter(({ inTransaction }) => !inTransaction)
  expect(beside.length).toBeGreaterThan(0)
  for (const { name, text } of beside) {
    const statements = text.replaceAll(/^--.*$/gm, '').split(';')
    const others = statements.filter(
      (each) => !/^\s*(CREATE (UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS \w+ ON [^;]*)?$/.test(each),
    )
    expect([name, others]).toEqual([name, []])
  }
})
