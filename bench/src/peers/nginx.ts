import type { DataSet } from '../data/data-set.js'
import { evenDirectory } from '../data/even-set.js'
import { sizeDirectory } from '../data/size-set.js'
import { type TlsPair, tlsPair } from '../data/tls-pair.js'
import { folderPath, type Peer, startDaemon, versionOf } from './peer.js'

/**
 * nginx with the fastest settings for files: one worker, sendfile, tcp_nopush, a cache of open files that revalidates each after 10 s, like
 * the edge; no log, no auth. The files of `many` and the vector tiles are served without that cache, which they would only fill.
 */
export const nginxPeer: Peer = {
  name: 'nginx',
  environments: ['common', 'small', 'others', 'sizes', 'tls'],
  async start({ data, environment, cores }) {
    const tls = environment === 'tls' ? tlsPair() : null
    const version = versionOf('nginx', '-v')
    if (version === null) return 'apt-get install nginx-light'
    const daemon = await startDaemon({
      name: 'nginx',
      cores,
      isEncrypted: tls !== null,
      configuration: (port) => nginxConfiguration(port, data, tls),
      command: (config, dir) => ['nginx', '-p', dir, '-e', 'stderr', '-c', config],
      ready: ['/missing', 404],
    })
    return {
      ...daemon,
      name: 'nginx',
      description: `${version}: files, sendfile, tcp_nopush, open_file_cache, 1 worker, no auth, no log${tls === null ? '' : '; with TLS'}`,
      tilePath: folderPath,
      downloadPath: (vector) => `/vectors/${vector}/download`,
      sendsStoredBytes: true,
      headers: [],
    }
  },
}

export function nginxConfiguration(port: number, data: DataSet, tls: TlsPair | null = null): string {
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path temp-${kind};`,
  )
  return `daemon off;
pid nginx.pid;
worker_processes 1;
${user}
worker_rlimit_nofile 20000;
events { worker_connections 16384; }
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
    listen 127.0.0.1:${port}${tls === null ? '' : ' ssl'};
    ${tls === null ? '' : `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key}; ssl_protocols TLSv1.2 TLSv1.3;`}
    location /tiles/ { alias ${data.basemaps}/; }
    location /tiles/many/ { alias ${data.basemaps}/many/; open_file_cache off; }
    location /tiles/size { alias ${sizeDirectory()}/size; }
    location /tiles/vt/ {
      alias ${evenDirectory()}/vt/;
      open_file_cache off;
      default_type application/vnd.mapbox-vector-tile;
      add_header Content-Encoding gzip;
    }
    location ~ ^/vectors/(\\w+)/download$ { alias ${data.vectors}/$1.geojson; }
  }
}
`
}
