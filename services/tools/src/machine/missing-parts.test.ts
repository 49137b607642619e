import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingParts } from './missing-parts.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'missing-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function has(...programs: string[]): void {
  for (const program of programs) {
    writeFileSync(join(folder, program), '')
    chmodSync(join(folder, program), 0o755)
  }
}

test('what a machine lacks is told in one line, with one command that brings all of it', () => {
  expect(missingParts(folder, join(folder, 'no addon'))).toEqual({
    finding: 'a compiler (the native tier), GDAL (further formats), Chromium (pictures of styles)',
    command: 'apt-get install g++ make python3 gdal-bin chromium',
  })
  has('ogr2ogr', 'make')
  expect(missingParts(folder, join(folder, 'no addon'))?.command).toBe('apt-get install g++ make python3 chromium')
  // A release has the addon, and needs no compiler.
  has('addon')
  expect(missingParts(folder, join(folder, 'addon'))?.command).toBe('apt-get install chromium')
  has('chromium')
  expect(missingParts(folder, join(folder, 'addon'))).toBeNull()
})
