import { createToken } from '@gateway/core/access/token-format.js'
import { nginxConfiguration } from './nginx.js'
import { folderPath, type Peer, startDaemon, versionOf } from './peer.js'

/** Memory for all requested files except downloads. */
const STORAGE = 'malloc,1500m'

/** Varnish in front of nginx, with all content in its memory. VCL checks the token, so this is the other peer that does. */
export const varnishPeer: Peer = {
  name: 'varnish',
  environments: ['common'],
  async start({ data, cores }) {
    const version = versionOf('varnishd', '-V')
    if (version === null || versionOf('nginx', '-v') === null) return 'apt-get install varnish nginx-light gcc'
    const backend = await startDaemon({
      name: 'varnish-backend',
      cores,
      configuration: (port) => nginxConfiguration(port, data),
      command: (config, dir) => ['nginx', '-p', dir, '-e', 'stderr', '-c', config],
      ready: ['/missing', 404],
    })
    const token = createToken()
    const daemon = await startDaemon({
      name: 'varnish',
      cores,
      configuration: () => checkingVcl(backend.port, token),
      command: (config, dir, port) => [
        ...[
          'varnishd',
          '-F',
          '-j',
          'none',
          '-n',
          `${dir}/work`,
          '-a',
          `127.0.0.1:${port}`,
          '-f',
          config,
          '-s',
          STORAGE,
        ],
        ...['-p', 'thread_pools=1', '-p', 'timeout_idle=65'],
      ],
      ready: ['/tiles/', 401],
    }).catch(async (error) => {
      await backend.stop()
      throw error
    })
    return {
      name: 'varnish',
      description: `${version}: in memory, token checked in VCL, 1 process with threads, before nginx`,
      port: daemon.port,
      pids: daemon.pids,
      tilePath: folderPath,
      downloadPath: () => null,
      sendsStoredBytes: true,
      headers: [`Authorization: Bearer ${token}`],
      stop: async () => {
        await daemon.stop()
        await backend.stop()
      },
    }
  },
}

/** VCL that checks a token in the header or in the query, and removes the query from the cache key. */
function checkingVcl(backendPort: number, token: string): string {
  return `vcl 4.1;
backend files { .host = "127.0.0.1"; .port = "${backendPort}"; }
sub vcl_recv {
  if (req.http.Authorization != "Bearer ${token}" && req.url !~ "[?&]token=${token}(&|$)") { return (synth(401)); }
  unset req.http.Authorization;
  set req.url = regsub(req.url, "\\?.*$", "");
  return (hash);
}
sub vcl_backend_response { set beresp.ttl = 1h; }
`
}
