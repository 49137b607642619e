/** The compose file, run under a separate project name and ports. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const PROJECT = 'gateway-check'
const HTTPS_PORT = 18443
/** Longer than the notice and the drain of compose.yaml's containers. */
export const STOP_SECONDS = '20'

/** Timeout in ms of events. The longest event, a slice job, takes a minute on an idle machine, and took more than five at a load of 20. */
const EVENT_MS = 1_800_000
const ANSWER_MS = 120_000
const directory = resolve(import.meta.dirname, '../../compose')

export class Compose {
  /** Accepts the proxy's self-signed certificate. */
  #agent = new Agent({ rejectUnauthorized: false, keepAlive: true, maxSockets: 64 })
  #environment
  #command

  constructor(engine) {
    this.engine = engine
    this.#command = [...(engine.isPodman ? ['podman-compose'] : [engine.program, 'compose']), '-p', PROJECT]
    // biome-ignore lint/style/noProcessEnv: passed on to the engine
    this.#environment = { ...process.env }
    const maps = mkdtempSync(join(tmpdir(), 'gateway-maps-'))
    // The user of the containers reads it.
    chmodSync(maps, 0o755)
    Object.assign(this.#environment, {
      COMPOSE: this.#command.join(' '),
      SITE_ADDRESS: `https://localhost:${HTTPS_PORT}`,
      HTTPS_PORT: `${HTTPS_PORT}`,
      HTTP_PORT: '18080',
      MAPS_DIR: maps,
    })
  }

  /** Starts everything with the command from the README, whose output contains the demo's token. */
  async start(version = 'latest') {
    this.remove()
    this.#environment.GATEWAY_VERSION = version
    // podman-compose does not support ipam: TRUSTED_PROXIES would name another network.
    if (this.engine.isPodman) this.engine.run('network', 'create', '--subnet', '172.30.89.0/24', `${PROJECT}_default`)
    const { status, stdout, stderr } = spawnSync(join(directory, 'start.sh'), {
      env: this.#environment,
      encoding: 'utf8',
    })
    this.token = /token=(bmp_\w+)/.exec(stdout)?.[1]
    if (status !== 0 || this.token === undefined)
      throw new Error(`start.sh: ${stdout.slice(-1000)}\n${stderr.slice(-2000)}`)
    this.adminToken = this.secret('admin-token')
    for (const name of this.containers('control-plane')) await until(`${name} is ready`, () => this.isReady(name, 8911))
    for (const name of [...this.containers('edge-1'), ...this.containers('edge-2')])
      await until(`${name} is ready`, () => this.isReady(name, 8910))
    await until('an edge is behind the proxy', async () => (await this.ask('/ready')).status === 200)
    console.log('compose: started')
  }

  secret(name) {
    return readFileSync(join(directory, 'secrets', name), 'utf8')
  }

  remove() {
    spawnSync(this.#command[0], [...this.#command.slice(1), 'down', '-v'], { cwd: directory, env: this.#environment })
    spawnSync(this.engine.program, ['network', 'rm', '-f', `${PROJECT}_default`])
  }

  /** Ends the containers of a service in order, and starts those of another version instead, like an upgrade. */
  async replace(service, version) {
    this.#environment.GATEWAY_VERSION = version
    if (this.engine.isPodman) {
      // podman-compose 1.0 does not replace a container with another image.
      for (const name of this.containers(service)) {
        await this.engine.runBeside('stop', '-t', STOP_SECONDS, name)
        await this.engine.runBeside('rm', name)
      }
    }
    const [program, ...args] = this.#command
    await promisify(execFile)(program, [...args, 'up', '-d', '--no-deps', service], {
      cwd: directory,
      env: this.#environment,
    })
    const port = service === 'control-plane' ? 8911 : 8910
    for (const name of this.containers(service)) await until(`${name} is ready`, () => this.isReady(name, port))
    const images = this.containers(service).map((name) =>
      this.engine.run('inspect', '--format', '{{.Config.Image}}', name),
    )
    if (!images.every((image) => image.endsWith(`:${version}`))) throw new Error(`${service} runs ${images}`)
  }

  /** Returns the containers of a service in order. */
  containers(service) {
    const filters = [`project=${PROJECT}`, `service=${service}`].flatMap((f) => [
      '--filter',
      `label=com.docker.compose.${f}`,
    ])
    return this.engine
      .run('ps', '-a', ...filters, '--format', '{{.Names}}')
      .split('\n')
      .filter(Boolean)
      .sort()
  }

  async isReady(container, port) {
    const code = `fetch('http://127.0.0.1:${port}/ready').then((r) => process.stdout.write(String(r.status)))`
    return (await this.engine.runBeside('exec', container, 'node', '-e', code)) === '200'
  }

  addressOf(container) {
    return this.engine.run('inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', container)
  }

  /**
   * Sends one request through the proxy.
   * @param {string} path
   * @param {{ method?: string, headers?: Record<string, string>, body?: string }} [options]
   */
  ask(path, { method = 'GET', headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: 'localhost', port: HTTPS_PORT, path, method, headers, agent: this.#agent },
        (answer) => {
          const chunks = []
          answer.on('data', (chunk) => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) }),
          )
        },
      )
      sent.on('error', reject)
      sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error(`${path}: no answer in ${ANSWER_MS / 1000} s`)))
      sent.end(body)
    })
  }

  /** Calls the admin interface; throws if the status is not 2xx. */
  async admin(method, path, body) {
    const headers = { authorization: `Bearer ${this.adminToken}`, ...(body && { 'content-type': 'application/json' }) }
    const answer = await this.ask(`/api/v1/admin${path}`, { method, headers, body: body && JSON.stringify(body) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
    return answer.body.length === 0 ? undefined : JSON.parse(answer.body)
  }
}

/** Polls for an event without another signal, at most for EVENT_MS. */
export async function until(what, happened) {
  const deadline = performance.now() + EVENT_MS
  for (;;) {
    const last = await Promise.resolve()
      .then(happened)
      .catch((error) => error)
    if (last === true) return
    if (performance.now() > deadline)
      throw new Error(`not in time: ${what}${last instanceof Error ? ` (${last.message})` : ''}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
