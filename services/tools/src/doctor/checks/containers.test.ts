import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSettings } from '@gateway/core/settings/load.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Installation } from '../installation.js'
import { checkSettings } from './settings.js'
import { checkTiler } from './tiler.js'

let home: string
let tiler: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'doctor-'))
  tiler = join(home, 'tiler.cjs')
  const said = { engine: 'gdal', description: 'GDAL 3.10.3', missing: ['a network namespace'] }
  writeFileSync(tiler, `console.log(${JSON.stringify(JSON.stringify(said))})`)
})
afterAll(() => rmSync(home, { recursive: true }))

const machine = (changes: Partial<Installation>): Installation => ({
  edge: true,
  controlPlane: true,
  embeddedPostgres: false,
  container: false,
  tiler,
  version: '0.2.0',
  engines: '>=20.19 <25',
  ...changes,
})
const settings = () =>
  loadSettings({ DATA_DIR: home, CONFIG_FILE: join(home, 'none'), API_HOST: '*', CONTROL_HOST: '*' })
const levels = (findings: readonly { level: string }[]) => findings.map(({ level }) => level)

test('a container cannot make network namespaces, which is no fault of its operator; of a machine it is worth a warning', async () => {
  expect(levels(await checkTiler(settings(), machine({})))).toEqual(['ok', 'warn'])
  const inside = await checkTiler(settings(), machine({ container: true }))
  expect(levels(inside)).toEqual(['ok', 'ok'])
  expect(inside[1]?.finding).toContain('a container does not permit a network namespace')
})

test('an edge without a control plane slices nothing: only a control plane is asked what images may be sliced', async () => {
  expect(levels(await checkSettings(settings(), machine({ controlPlane: false })))).toEqual(['ok'])
  expect(levels(await checkSettings(settings(), machine({})))).toEqual(['ok', 'warn'])
})
