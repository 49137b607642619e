import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, isListening } from './ports.js'
import { ServiceProcess } from './service-process.js'

/** A load balancer from Debian in front of edges, with a separate URL. */
export interface LoadBalancer {
  readonly url: string
  stop(): Promise<void>
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((name) => `${name}_temp_path tmp;`)
  .join('\n')

const KEPT_CONNECTIONS = `
            proxy_http_version 1.1;
            proxy_set_header Connection "";`

/** nginx as it comes: connections to the edges are kept, what fails at one edge is tried at the next, and no edge is ever given up. */
export async function startNginx(edges: readonly string[]): Promise<LoadBalancer> {
  return nginxBefore(edges, KEPT_CONNECTIONS)
}

/** nginx that only has `proxy_pass`: before version 1.29 it speaks HTTP/1.0 to the edge. */
export async function startBareNginx(edge: string): Promise<LoadBalancer> {
  return nginxBefore([edge], '')
}

async function nginxBefore(edges: readonly string[], more: string): Promise<LoadBalancer> {
  const port = await freePort()
  return start('nginx', port, (dir) => ({
    command: ['nginx', '-e', 'stderr', '-p', dir, '-c', join(dir, 'conf')],
    config: `
      daemon off;
      master_process off;
      pid nginx.pid;
      error_log stderr crit;
      events { }
      http {
        access_log off;
        ${TEMPORARY}
        upstream gateway {
          ${edges.map((edge) => `server ${new URL(edge).host} max_fails=0;`).join('\n')}
          ${more === '' ? '' : 'keepalive 64;'}
        }
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://gateway;${more}
          }
        }
      }`,
  }))
}

/** A server of files. */
export type FileServer = LoadBalancer

/** nginx with the files of a folder as a web server has them: connections are kept, texts and vector tiles are compressed, other origins may read. */
export async function startNginxFiles(folder: string): Promise<FileServer> {
  const port = await freePort()
  return start('nginx', port, (dir) => ({
    command: ['nginx', '-e', 'stderr', '-p', dir, '-c', join(dir, 'conf')],
    config: `
      daemon off;
      master_process off;
      pid nginx.pid;
      error_log stderr crit;
      ${process.getuid?.() === 0 ? 'user root;' : ''}
      events { }
      http {
        access_log off;
        ${TEMPORARY}
        types { application/json json; image/png png; application/vnd.mapbox-vector-tile pbf mvt; }
        sendfile on;
        tcp_nopush on;
        gzip on;
        gzip_comp_level 6;
        gzip_types application/json application/vnd.mapbox-vector-tile;
        server {
          listen 127.0.0.1:${port};
          root ${folder};
          add_header Access-Control-Allow-Origin *;
        }
      }`,
  }))
}

const STATE_PATH = '/haproxy-state'

/** HAProxy that requests `/ready` every 0.2 s, in HTTP/1.0 as by default, and retries nothing. */
export async function startHaproxy(edges: readonly string[]): Promise<LoadBalancer & { usesAll(): Promise<boolean> }> {
  const port = await freePort()
  const balancer = await start('haproxy', port, (dir) => ({
    command: ['haproxy', '-db', '-q', '-f', join(dir, 'conf')],
    config: `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  # Without it an edge that is late three times, being busy, is given up.
  timeout check 10s
  retries 0
frontend callers
  bind 127.0.0.1:${port}
  stats enable
  stats uri ${STATE_PATH}
  default_backend gateway
backend gateway
  option httpchk GET /ready
  default-server check inter 200ms
${edges.map((edge, i) => `  server edge${i} ${new URL(edge).host}`).join('\n')}
`,
  }))
  return {
    ...balancer,
    /** True if it has found every edge ready. */
    async usesAll() {
      const state = await (await fetch(`${balancer.url}${STATE_PATH};csv`)).text()
      return edges.every((_, i) => new RegExp(`^gateway,edge${i},(?:[^,]*,){15}UP,`, 'm').test(state))
    },
  }
}

async function start(
  name: string,
  port: number,
  describe: (dir: string) => { command: readonly string[]; config: string },
): Promise<LoadBalancer> {
  const dir = await mkdtemp(join(tmpdir(), `gateway-test-${name}-`))
  const { command, config } = describe(dir)
  await mkdir(join(dir, 'tmp'))
  await writeFile(join(dir, 'conf'), config)
  const process = new ServiceProcess(name, command, globalThis.process.env)
  while (!(await isListening(port))) {
    if (!process.running) throw new Error(`${name} does not start:\n${process.output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      await process.kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
