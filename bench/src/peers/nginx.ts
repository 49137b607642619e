import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gateway/launcher/ports.js'
import type { DataSet } from '../data/data-set.js'
import { answers, Service } from '../gateway/service.js'
import { family } from '../machine.js'
import type { Peer } from './peer.js'

/**
 * nginx with what makes it fastest with files: one worker, sendfile, tcp_nopush, a cache of open files that holds all of
 * them and looks at each again after 10 s, as the edge does; no log, no auth.
 */
export const nginxPeer: Peer = {
  name: 'nginx',
  async start({ data, cores }) {
    const version = spawnSync('nginx', ['-v'], { encoding: 'utf8' })
    if (version.error !== undefined) return 'nginx is not installed'
    const dir = await mkdtemp(join(tmpdir(), 'gateway-bench-nginx-'))
    const port = await freePort()
    await mkdir(join(dir, 'temp'))
    await writeFile(join(dir, 'nginx.conf'), configuration(port, data))
    const command = ['nginx', '-p', dir, '-e', 'stderr', '-c', join(dir, 'nginx.conf')]
    const service = new Service({ name: 'nginx', command, core: cores?.server })
    const stop = async (): Promise<void> => {
      await service.stop()
      await rm(dir, { recursive: true, force: true })
    }
    await service.until(() => answers(`http://127.0.0.1:${port}/missing`, 404))
    return {
      name: 'nginx',
      description: `${version.stderr.trim()}: files, sendfile, tcp_nopush, open_file_cache, 1 worker, no auth, no log`,
      port,
      pids: () => family(service.pid),
      tilePath: (basemap, { z, x, y }) =>
        basemap === 'mixmb' || basemap === 'mixpm' ? null : `/tiles/${basemap}/v1/${z}/${x}/${y}.png`,
      downloadPath: (vector) => `/vectors/${vector}/download`,
      sendsStoredBytes: true,
      headers: [],
      stop,
    }
  },
}

function configuration(port: number, data: DataSet): string {
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path temp;`)
  return `daemon off;
pid nginx.pid;
worker_processes 1;
${user}
events { worker_connections 4096; }
http {
  ${temporary.join(' ')}
  types { image/png png; application/geo+json geojson; }
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 65;
  keepalive_requests 100000000;
  open_file_cache max=20000 inactive=600s;
  open_file_cache_valid 10s;
  open_file_cache_min_uses 1;
  server {
    listen 127.0.0.1:${port};
    location /tiles/ { alias ${data.basemaps}/; }
    location ~ ^/vectors/(\\w+)/download$ { alias ${data.vectors}/$1.geojson; }
  }
}
`
}
