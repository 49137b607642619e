import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gateway/launcher/ports.js'
import { answers, Service } from '../gateway/service.js'
import { family } from '../machine.js'
import type { Peer } from './peer.js'

/** Where Debian keeps the modules of Apache. */
const MODULES = '/usr/lib/apache2/modules'

/** MapCache as a module of Apache, on the files of the mix, in one process with threads. (Into an MBTiles archive it would write tables of its own.) */
export const mapcachePeer: Peer = {
  name: 'mapcache',
  async start({ data, cores }) {
    if (!existsSync(join(MODULES, 'mod_mapcache.so'))) return 'MapCache (libapache2-mod-mapcache) is not installed'
    const version = spawnSync('apache2', ['-v'], { encoding: 'utf8' })
    if (version.error !== undefined) return 'Apache, which would run it, is not installed'
    const dir = await mkdtemp(join(tmpdir(), 'gateway-bench-mapcache-'))
    const port = await freePort()
    // Apache gives root away and locks as another user.
    await chmod(dir, 0o777)
    await writeFile(join(dir, 'mapcache.xml'), tilesets(join(data.basemaps, 'mix/v1'), dir))
    await writeFile(join(dir, 'apache.conf'), configuration(port, dir))
    const service = new Service({
      name: 'mapcache',
      command: ['apache2', '-DFOREGROUND', '-d', dir, '-f', join(dir, 'apache.conf')],
      core: cores?.server,
    })
    const path = (z: number, x: number, y: number): string => `/map/gmaps/mix@GoogleMapsCompatible/${z}/${x}/${y}.png`
    await service.until(() => answers(`http://127.0.0.1:${port}${path(0, 0, 0)}`, 200))
    return {
      name: 'mapcache',
      description: `mod_mapcache in ${version.stdout.split('\n')[0]}: files, one process with 128 threads, no auth, no log`,
      port,
      pids: () => family(service.pid),
      tilePath: (basemap, { z, x, y }) => (basemap === 'mix' ? path(z, x, y) : null),
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

function tilesets(folder: string, dir: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<mapcache>
  <cache name="mix" type="disk" layout="template"><template>${folder}/{z}/{x}/{inv_y}.png</template></cache>
  <tileset name="mix">
    <cache>mix</cache>
    <grid>GoogleMapsCompatible</grid>
    <format>PNG</format>
  </tileset>
  <service type="gmaps" enabled="true"/>
  <lock_dir>${dir}</lock_dir>
</mapcache>
`
}

function configuration(port: number, dir: string): string {
  const user = process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''
  return `LoadModule mpm_event_module ${MODULES}/mod_mpm_event.so
LoadModule authz_core_module ${MODULES}/mod_authz_core.so
LoadModule mapcache_module ${MODULES}/mod_mapcache.so
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${dir}/apache.pid
ErrorLog ${dir}/error.log
LogLevel error
${user}
ThreadLimit 128
ServerLimit 1
StartServers 1
ThreadsPerChild 128
MaxRequestWorkers 128
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
<IfModule mapcache_module>
  MapCacheAlias /map ${dir}/mapcache.xml
</IfModule>
<Location /map>
  Require all granted
</Location>
`
}
