import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gateway/launcher/ports.js'
import { answers, Service } from '../gateway/service.js'
import { family } from '../machine.js'
import type { Peer } from './peer.js'

/** MapProxy on the MBTiles of the mix, as a cache without a source, behind one gunicorn worker. */
export const mapproxyPeer: Peer = {
  name: 'mapproxy',
  async start({ data, cores }) {
    const version = spawnSync('mapproxy-util', ['--version'], { encoding: 'utf8' })
    if (version.error !== undefined) return 'MapProxy is not installed'
    if (spawnSync('gunicorn', ['--version']).error !== undefined)
      return 'gunicorn, which would run it, is not installed'
    const dir = await mkdtemp(join(tmpdir(), 'gateway-bench-mapproxy-'))
    const port = await freePort()
    await writeFile(join(dir, 'mapproxy.yaml'), configuration(join(data.basemaps, 'mixmb/v1.mbtiles'), dir))
    await writeFile(
      join(dir, 'served.py'),
      'from mapproxy.wsgiapp import make_wsgi_app\napplication = make_wsgi_app("mapproxy.yaml")\n',
    )
    const options = ['--workers', '1', '--bind', `127.0.0.1:${port}`, '--keep-alive', '60', '--worker-class', 'gthread']
    const service = new Service({
      name: 'mapproxy',
      command: ['gunicorn', ...options, '--threads', '16', 'served:application'],
      cwd: dir,
      env: { ...process.env, PYTHONWARNINGS: 'ignore' },
      core: cores?.server,
    })
    await service.until(() => answers(`http://127.0.0.1:${port}/tiles/mix/archive/0/0/0.png?origin=nw`, 200))
    return {
      name: 'mapproxy',
      description: `${version.stdout.trim()}: MBTiles as a cache, one gunicorn worker with 16 threads, no auth`,
      port,
      pids: () => family(service.pid),
      tilePath: (basemap, { z, x, y }) =>
        basemap === 'mixmb' ? `/tiles/mix/archive/${z}/${x}/${y}.png?origin=nw` : null,
      downloadPath: () => null,
      sendsStoredBytes: true,
      headers: [],
      stop: async () => {
        await service.stop()
        await rm(dir, { recursive: true, force: true })
      },
    }
  },
}

function configuration(archive: string, dir: string): string {
  return `services:
  tms:
    use_grid_names: true
    origin: nw
layers:
  - name: mix
    title: mix
    sources: [mix]
caches:
  mix:
    grids: [archive]
    sources: []
    format: image/png
    cache: { type: mbtiles, filename: ${archive} }
grids:
  archive: { base: GLOBAL_MERCATOR }
globals:
  cache: { base_dir: ${dir}, lock_dir: ${dir}/locks }
`
}
