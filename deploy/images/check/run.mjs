/**
 * `npm run images:check`: builds both images, looks into them, runs the compose file with them and breaks things under load. Needs docker or
 * podman (deploy/images/stand-ins makes one on a machine that reaches no registry) and some ten minutes; a machine without an engine is told so.
 *
 *     npm run images:check -- [--no-build] [--keep] [--restarts 10]
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { containerEngine } from '../engine.mjs'
import { checkBackup } from './backup.mjs'
import { Compose } from './compose.mjs'
import { checkContents } from './contents.mjs'
import { checkFaults } from './faults.mjs'
import { checkKube } from './kube.mjs'
import { checkMonitoring } from './monitoring.mjs'
import { checkService } from './service.mjs'

const { values: options } = parseArgs({
  options: {
    'no-build': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    restarts: { type: 'string', default: '10' },
  },
})
const engine = containerEngine()
if (!options['no-build']) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../build.mjs')], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
checkContents(engine)
const compose = new Compose(engine)
try {
  await compose.start()
  await checkService(compose)
  await checkBackup(compose)
  await checkMonitoring(compose)
  if (Number(options.restarts) > 0) await checkFaults(compose, Number(options.restarts))
  await checkKube(engine)
  console.log('All checks passed.')
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  if (!options.keep) compose.remove()
}
