import { evenDirectory } from '../data/even-set.js'
import { type PeerOptions, startDaemon } from './peer.js'

/** A remote copy of the archive `evenpm`: nginx over HTTP with ranges, on the load's processor. */
export async function startOrigin(cores: PeerOptions['cores']): Promise<{ archive: string; stop(): Promise<void> }> {
  const { port, stop } = await startDaemon({
    name: 'origin',
    cores: cores && { ...cores, server: cores.load },
    configuration: (listen) => {
      const user = process.getuid?.() === 0 ? 'user root;' : ''
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path temp;`)
      return `daemon off; pid nginx.pid; ${user} events {}
http {
  access_log off; ${folders.join(' ')}
  server { listen 127.0.0.1:${listen}; location = /remotepm.pmtiles { alias ${evenDirectory()}/evenpm/v1.pmtiles; } }
}`
    },
    command: (config, dir) => ['nginx', '-p', dir, '-e', 'stderr', '-c', config],
    ready: ['/missing', 404],
  })
  return { archive: `http://127.0.0.1:${port}/remotepm.pmtiles`, stop }
}
