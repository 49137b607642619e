import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSettings } from '@gateway/core/settings/load.js'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePair, tlsEnv } from '../testing/tls-pair.js'
import { surroundings } from './surroundings.js'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'surroundings-'))
})
afterAll(() => rmSync(home, { recursive: true }))

async function values(env: Record<string, string>): Promise<Record<string, number | undefined>> {
  const registry = new Registry()
  surroundings(registry, loadSettings({ CONFIG_FILE: join(home, 'none'), ...env }))
  const metrics = await registry.getMetricsAsJSON()
  return Object.fromEntries(metrics.map(({ name, values }) => [name, values[0]?.value]))
}

test('an edge tells how much room its disk has, also where DATA_DIR is not made yet', async () => {
  const told = await values({ DATA_DIR: join(home, 'not/yet') })
  expect(told.gateway_disk_free_bytes).toBeGreaterThan(0)
  expect(told.gateway_disk_bytes).toBeGreaterThanOrEqual(told.gateway_disk_free_bytes as number)
  expect(told.gateway_tls_certificate_expiry_timestamp_seconds).toBeUndefined()
})

test('an edge with a certificate tells when it ends, and nothing while its files are no pair', async () => {
  const pair = makePair(home, 'edge')
  const env = { DATA_DIR: home, ...tlsEnv(pair) }
  const name = 'gateway_tls_certificate_expiry_timestamp_seconds'
  const { validTo } = new X509Certificate(readFileSync(pair.cert))
  expect((await values(env))[name]).toBe(Date.parse(validTo) / 1000)
  writeFileSync(pair.cert, 'half a certifi')
  expect((await values(env))[name]).toBeUndefined()
})
