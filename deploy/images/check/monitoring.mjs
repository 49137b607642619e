/** A real Prometheus scrapes all edges and control planes; every panel of the dashboard and every metric in an alert must have data. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { until } from './compose.mjs'
import { slice } from './service.mjs'

const directory = resolve(import.meta.dirname, '../../monitoring')
const PORT = 19090
const SCRAPE_SECONDS = 5

/** Metrics of alerts that an edge has only if it terminates TLS, which the proxy of compose does. */
const ONLY_WITH_TLS = ['gateway_tls_certificate_expiry_timestamp_seconds']

export async function checkMonitoring(compose) {
  if (spawnSync('prometheus', ['--version']).status !== 0) {
    console.log('monitoring: not checked, since no prometheus is installed')
    return
  }
  await causeDurations(compose)
  const targets = [
    ...['edge-1', 'edge-2']
      .flatMap((name) => compose.containers(name))
      .map((name) => `${compose.addressOf(name)}:8910`),
    ...compose.containers('control-plane').map((name) => `${compose.addressOf(name)}:8911`),
  ]
  for (const target of targets) {
    const text = await (await fetch(`http://${target}/metrics`)).text()
    const lint = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    assert.equal(lint.status, 0, `promtool on ${target}: ${lint.stderr}`)
  }
  const data = mkdtempSync(join(tmpdir(), 'gateway-prometheus-'))
  const config = {
    global: { scrape_interval: `${SCRAPE_SECONDS}s`, evaluation_interval: `${SCRAPE_SECONDS}s` },
    rule_files: [join(directory, 'alerts.yaml')],
    scrape_configs: [{ job_name: 'gateway', static_configs: [{ targets }] }],
  }
  writeFileSync(join(data, 'prometheus.yml'), JSON.stringify(config))
  const args = [
    `--config.file=${data}/prometheus.yml`,
    `--storage.tsdb.path=${data}/data`,
    `--web.listen-address=127.0.0.1:${PORT}`,
  ]
  const prometheus = spawn('prometheus', args, { stdio: 'ignore' })
  try {
    await until('every target was scraped', async () => (await query('sum(up)'))[0]?.value[1] === `${targets.length}`)
    // Enough scrapes for every rate.
    await until('there are rates', async () => (await query('min(count_over_time(up[5m])) > 6')).length > 0)
    const expressions = panelExpressions()
    const empty = []
    for (const expression of expressions) if ((await query(expression)).length === 0) empty.push(expression)
    assert.deepEqual(empty, [], 'panels without data')
    const names = new Set(readFileSync(join(directory, 'alerts.yaml'), 'utf8').match(/gateway_\w+/g))
    for (const name of names) if ((await query(name)).length === 0) empty.push(name)
    assert.deepEqual(empty, ONLY_WITH_TLS, 'metrics of alerts without data')
    console.log(
      `monitoring: ${targets.length} targets, ${expressions.length} panel queries and ${names.size - empty.length} metrics of alerts have data`,
    )
  } finally {
    prometheus.kill()
    await new Promise((resolve) => prometheus.once('exit', resolve))
    rmSync(data, { recursive: true, force: true })
  }
}

/** Runs a slice job and a delivery, because a duration has a series only after its first event. */
async function causeDurations(compose) {
  const job = await slice(compose, 'measured-layer', 2)
  await until('the slice job succeeds', async () => (await job()).status === 'succeeded')
  // A missing target would look like a missing mount.
  const [controlPlane] = compose.containers('control-plane')
  compose.engine.run('exec', controlPlane, 'mkdir', '-p', '/data/pushed')
  await compose.admin('POST', '/targets', { code: 'folder', kind: 'directory', path: '/data/pushed', mode: 'upload' })
  const { id } = await compose.admin('POST', '/pushes', {
    target_code: 'folder',
    basemap_code: 'measured-layer',
    version: 'current',
  })
  await until('the push succeeds', async () => {
    const { status, message } = await compose.admin('GET', `/push-records/${id}`)
    // A push that does not succeed in time fails with this reason.
    if (message !== '') throw new Error(message)
    return status === 'succeeded'
  })
}

export function panelExpressions() {
  const { panels } = JSON.parse(readFileSync(join(directory, 'dashboard.json'), 'utf8'))
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '30s')))
}

async function query(expression) {
  const answer = await fetch(`http://127.0.0.1:${PORT}/api/v1/query?query=${encodeURIComponent(expression)}`)
  const { data, error } = await answer.json()
  if (error !== undefined) throw new Error(`${expression}: ${error}`)
  return data.result
}
