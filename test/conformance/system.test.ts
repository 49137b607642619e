import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

const gateway = useGateway()

test('/health and /ready return 200 without authentication', async () => {
  expect((await fetch(`${gateway().url}/health`)).status).toBe(200)
  expect((await fetch(`${gateway().url}/ready`)).status).toBe(200)
})

test('/metrics is plain text with request, tile, tile 404, authentication failure counts and uptime', async () => {
  const answer = await fetch(`${gateway().url}/metrics`)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  const text = await answer.text()
  for (const name of ['requests_total', 'tiles_total', 'tile_404_total', 'auth_failures_total', 'uptime_seconds']) {
    expect(text).toMatch(new RegExp(`^gateway_${name}(\\{[^}]*\\})? [\\d.e+]+$`, 'm'))
  }
})

test('docs/observing.md names every metric of edge and control plane, and no other', async () => {
  const page = readFileSync(new URL('../../docs/observing.md', import.meta.url), 'utf8')
  const services = [
    { url: gateway().url, table: '| Of the edge ', prefix: '' },
    { url: gateway().controlPlane.url, table: '| Of the control plane', prefix: 'gateway_control_' },
  ]
  for (const { url, table, prefix } of services) {
    const text = await (await fetch(`${url}/metrics`)).text()
    const told = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name as string)
    const [, ...rows] = (page.slice(page.indexOf(table)).split('\n\n')[0] as string).split('\n')
    const cells = rows.map((row) => row.split('|')[1] as string)
    const named = cells.flatMap((cell) =>
      [...cell.matchAll(/`(\w+)(\*?)/g)].map(([, name, all]) => [prefix + name, all]),
    )
    const isNamed = (metric: string) =>
      named.some(([name, all]) => (all === '' ? metric === name : metric.startsWith(name as string)))
    const isTold = ([name, all]: (string | undefined)[]) =>
      told.some((metric) => (all === '' ? metric === name : metric.startsWith(name as string)))
    expect(told.filter((metric) => !isNamed(metric))).toEqual([])
    expect(named.filter((one) => !isTold(one))).toEqual([])
    expect(told.length).toBeGreaterThan(20)
  }
})

test('/api/v1/system returns version, base URLs and scan root directories, but no secret', async () => {
  const answer = await fetch(`${gateway().url}/api/v1/system`)
  expect(answer.status).toBe(200)
  const text = await answer.text()
  expect(JSON.parse(text)).toMatchObject({ version: expect.any(String), slice_output_root: expect.any(String) })
  expect(text).toContain(gateway().url)
  expect(text).not.toContain(gateway().adminToken)
  expect(text).not.toContain('postgres://')
})

test('the OpenAPI document describes every path of the interface', async () => {
  const document = (await (await fetch(`${gateway().url}/api/v1/openapi.json`)).json()) as {
    openapi: string
    paths: Record<string, Record<string, unknown>>
  }
  expect(document.openapi).toMatch(/^3\.1/)
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  for (const line of INTERFACE) expect(described).toContain(line)
})

const INTERFACE = [
  'GET /health',
  'GET /ready',
  'GET /metrics',
  'GET /api/v1/system',
  'GET /api/v1/admin/dashboard',
  'GET /api/v1/admin/basemaps',
  'GET /api/v1/admin/vectors',
  'GET /api/v1/admin/scan-sources',
  'POST /api/v1/admin/scan-sources',
  'POST /api/v1/admin/scan-sources/{code}/run',
  'POST /api/v1/admin/vectors/rescan',
  'POST /api/v1/admin/basemaps/{code}/default-version',
  'POST /api/v1/admin/health/check',
  'GET /api/v1/admin/tokens',
  'POST /api/v1/admin/tokens',
  'POST /api/v1/admin/tokens/{id}/disable',
  'GET /api/v1/admin/targets',
  'POST /api/v1/admin/targets',
  'POST /api/v1/admin/pushes',
  'POST /api/v1/admin/vector-pushes',
  'GET /api/v1/admin/push-records',
  'GET /api/v1/admin/vector-push-records',
  'POST /api/v1/admin/push-records/{id}/retry',
  'POST /api/v1/admin/vector-push-records/{id}/retry',
  'GET /api/v1/catalog/basemaps',
  'GET /api/v1/catalog/basemaps/{code}',
  'GET /api/v1/catalog/vectors',
  'GET /api/v1/catalog/vectors/{code}',
  'GET /tiles/{code}/{version}/{z}/{x}/{y}.{ext}',
  'GET /tiles/{code}/{z}/{x}/{y}.{ext}',
  'GET /vectors/{code}/download',
  'GET /geojson/{relative_path}',
  'GET /shp/{relative_path}',
  'POST /api/v1/slice/jobs',
  'GET /api/v1/slice/jobs/{id}',
  'GET /api/v1/slice/layers/{code}/sources',
  // Extensions.
  'GET /api/v1/admin/slice/jobs',
  'POST /api/v1/admin/slice/jobs/{id}/cancel',
  'GET /api/v1/admin/slice/jobs/{id}/log',
  'GET /tiles/{code}/tilejson.json',
  'GET /tiles/{code}/{version}/tilejson.json',
  'POST /api/v1/import',
]
