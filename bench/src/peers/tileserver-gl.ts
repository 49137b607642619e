import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gateway/core/processes/readiness.js'
import { evenDirectory } from '../data/even-set.js'
import { answers, Service } from '../gateway/service.js'
import { family } from '../machine.js'
import { startOrigin } from './origin.js'
import type { Peer } from './peer.js'

const PACKAGE = 'tileserver-gl-light'
const VERSION = '5.6.0'
/** Timeout of the installation, which compiles SQLite if there is no binary. */
const INSTALL_WITHIN_MS = 15 * 60_000

/** tileserver-gl-light on the archives of the mix, and on one behind HTTP, installed once into the system's temporary directory. */
export const tileserverGlPeer: Peer = {
  name: 'tileserver-gl-light',
  environments: ['common', 'small'],
  async start({ data, environment, cores }) {
    const dir = await install()
    if (dir === null) return `${PACKAGE} ${VERSION} cannot be installed from npm`
    const port = await freePort()
    const config = join(dir, `config-${port}.json`)
    const isSmall = environment === 'small'
    const origin = isSmall ? await startOrigin(cores) : null
    const archives = isSmall ? ['evenmb', 'evenpm', 'vtmb', 'vtpm'] : ['mixmb', 'mixpm']
    const kept = archives.map((name) => {
      const kind = name.endsWith('mb') ? 'mbtiles' : 'pmtiles'
      return [name, { [kind]: `${name}/v1.${kind}` }] as const
    })
    const sets = { ...Object.fromEntries(kept), ...(origin && { remotepm: { pmtiles: origin.archive } }) }
    const basemaps = Object.keys(sets)
    const directory = isSmall ? evenDirectory() : data.basemaps
    const paths = { root: dir, mbtiles: directory, pmtiles: directory }
    await writeFile(config, JSON.stringify({ options: { paths }, styles: {}, data: sets }))
    const main = join(dir, `node_modules/${PACKAGE}/src/main.js`)
    const options = ['--config', config, '--bind', '127.0.0.1', '--port', String(port), '--silent']
    const service = new Service({
      name: PACKAGE,
      command: [process.execPath, main, ...options],
      env: { ...process.env, NODE_ENV: 'production' },
      cwd: dir,
      core: cores?.server,
    })
    const opened = (name: string) => answers(`http://127.0.0.1:${port}/data/${name}.json`, 200)
    await service.until(async () => (await Promise.all(basemaps.map(opened))).every(Boolean))
    return {
      name: PACKAGE,
      description: `${PACKAGE} ${installedVersion(dir)}: MBTiles and PMTiles, no auth, no log`,
      port,
      pids: () => family(service.pid),
      tilePath: (basemap, { z, x, y }) =>
        basemaps.includes(basemap)
          ? `/data/${basemap}/${z}/${x}/${y}.${basemap.startsWith('vt') ? 'pbf' : 'png'}`
          : null,
      downloadPath: () => null,
      sendsStoredBytes: true,
      headers: [],
      stop: async () => {
        await service.stop()
        await origin?.stop()
        await rm(config)
      },
    }
  },
}

/** null: npm cannot install it here. */
async function install(): Promise<string | null> {
  const dir = join(tmpdir(), `gateway-bench-${PACKAGE}-${VERSION}`)
  if (existsSync(dir)) return dir
  process.stderr.write(`Installing ${PACKAGE} ${VERSION} (npm) into ${dir}, once ...\n`)
  const unfinished = `${dir}-${process.pid}`
  await mkdir(unfinished)
  await writeFile(join(unfinished, 'package.json'), '{"private":true}')
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${PACKAGE}@${VERSION}`]
  const { status } = spawnSync('npm', args, { cwd: unfinished, stdio: 'ignore', timeout: INSTALL_WITHIN_MS })
  if (status !== 0) {
    await rm(unfinished, { recursive: true })
    return null
  }
  await rename(unfinished, dir)
  return dir
}

function installedVersion(dir: string): string {
  const { version } = JSON.parse(readFileSync(join(dir, `node_modules/${PACKAGE}/package.json`), 'utf8'))
  return version as string
}
