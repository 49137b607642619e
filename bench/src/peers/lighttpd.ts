import { folderPath, type Peer, startDaemon, versionOf } from './peer.js'

/** lighttpd with the fastest settings for files: one process, sendfile, its cache of file states; no log, no auth. */
export const lighttpdPeer: Peer = {
  name: 'lighttpd',
  environments: ['common'],
  async start({ data, cores }) {
    const version = versionOf('lighttpd', '-v')
    if (version === null) return 'apt-get install lighttpd'
    const daemon = await startDaemon({
      name: 'lighttpd',
      cores,
      configuration: (port) => `server.modules = ("mod_alias")
server.bind = "127.0.0.1"
server.port = ${port}
server.document-root = "${data.dir}"
server.network-backend = "sendfile"
server.stat-cache-engine = "simple"
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 65
server.max-fds = 65535
server.max-connections = 2048
mimetype.assign = (".png" => "image/png", ".geojson" => "application/geo+json")
alias.url = ("/tiles/" => "${data.basemaps}/", "/vectors/" => "${data.vectors}/")
`,
      command: (config) => ['lighttpd', '-D', '-f', config],
      ready: ['/missing', 404],
    })
    return {
      ...daemon,
      name: 'lighttpd',
      description: `${version}: files, sendfile, 1 process, no auth, no log`,
      tilePath: folderPath,
      downloadPath: (vector) => `/vectors/${vector}.geojson`,
      sendsStoredBytes: true,
      headers: [],
    }
  },
}
