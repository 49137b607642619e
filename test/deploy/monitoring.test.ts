import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const deploy = join(import.meta.dirname, '../../deploy')
const read = (path: string) => readFileSync(join(deploy, path), 'utf8')
const promtool = (...args: string[]) =>
  spawnSync('promtool', args, { encoding: 'utf8', cwd: join(deploy, 'monitoring') })

test('each alert fires on its fault and is silent otherwise', () => {
  const { status, stdout, stderr } = promtool('test', 'rules', 'alerts.test.yaml')
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
  const { groups } = parse(read('monitoring/alerts.yaml'))
  const names: string[] = groups.flatMap(({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert))
  const { tests } = parse(read('monitoring/alerts.test.yaml'))
  for (const name of names) {
    const cases = tests.flatMap((t: { alert_rule_test: { alertname: string }[] }) => t.alert_rule_test)
    const firing = cases.filter((c: { alertname: string; exp_alerts?: [] }) => c.alertname === name)
    const counts = firing.map((c: { exp_alerts?: [] }) => c.exp_alerts?.length ?? 0).sort()
    expect([name, counts]).toEqual([name, [0, expect.any(Number)]])
    expect([name, counts[1]]).not.toEqual([name, 0])
  }
})

test('the rules of the Kubernetes overlay are the same', () => {
  const overlay = parse(read('kubernetes/overlays/production/alerts.yaml'))
  expect(overlay.spec).toEqual(parse(read('monitoring/alerts.yaml')))
})

test('every query of the dashboard can be parsed', () => {
  const { panels } = JSON.parse(read('monitoring/dashboard.json'))
  const targets: { expr: string }[] = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets)
  expect(targets.length).toBeGreaterThan(30)
  // As rules, since this promtool cannot parse a single expression.
  const rules = targets.map(({ expr }, index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll('$__rate_interval', '1m'),
  }))
  const dir = mkdtempSync(join(tmpdir(), 'dashboard-'))
  try {
    const check = (list: object[]) => {
      writeFileSync(join(dir, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'panels', rules: list }] }))
      return promtool('check', 'rules', '--lint=none', join(dir, 'rules.yaml')).status
    }
    expect(check(rules)).toBe(0)
    expect(check([...rules, { record: 'planted', expr: 'rate(gateway_tiles_total[1m]' }])).not.toBe(0)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
