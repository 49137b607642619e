/**
 * `npm run images:check`: builds both images, checks their content, runs the compose file with them and causes faults under load. Needs docker
 * or podman (deploy/images/stand-ins makes one on a machine without access to a registry) and about ten minutes; fails with a message without an
 * engine.
 *
 *     npm run images:check -- [--no-build] [--keep] [--restarts 10] [--only service,faults] [--before TAG]
 *
 * `--only` runs only the named checks. `--before` upgrades from both images of that tag, the previous version, and rolls back, under load.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { containerEngine } from '../engine.mjs'
import { checkBackup } from './backup.mjs'
import { Compose } from './compose.mjs'
import { checkContents } from './contents.mjs'
import { checkFaults, checkRestarts } from './faults.mjs'
import { checkKube } from './kube.mjs'
import { checkMonitoring } from './monitoring.mjs'
import { checkService } from './service.mjs'
import { checkUpgrade } from './upgrade.mjs'

const { values: options } = parseArgs({
  options: {
    'no-build': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    restarts: { type: 'string', default: '10' },
    only: { type: 'string' },
    before: { type: 'string' },
  },
})
const only = options.only?.split(',')
const isWanted = (check) => only?.includes(check) ?? true
const engine = containerEngine()
if (!options['no-build']) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../build.mjs')], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
if (isWanted('contents')) checkContents(engine, !options['no-build'])
const compose = new Compose(engine)
/** @type {[string, () => Promise<void>][]} */
const onCompose = [
  ['service', () => checkService(compose)],
  ['backup', () => checkBackup(compose)],
  ['monitoring', () => checkMonitoring(compose)],
  ['restarts', () => checkRestarts(compose, Number(options.restarts))],
  ['faults', () => checkFaults(compose)],
]
const wanted = onCompose.filter(([name]) => isWanted(name))
try {
  if (wanted.length > 0) await compose.start()
  for (const [, check] of wanted) await check()
  if (options.before !== undefined && isWanted('upgrade')) await checkUpgrade(compose, options.before)
  if (isWanted('kube')) await checkKube(engine)
  console.log('All checks passed.')
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  if (!options.keep) compose.remove()
}
