import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environment, type TestSettings } from './environment.js'
import { portsLeft, processesLeft } from './left-behind.js'
import { freePort } from './ports.js'
import { type Ending, ServiceProcess } from './service-process.js'

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url))

/** The output of the start command once everything served, by the label of the line. */
export type Printed = Readonly<Record<string, string>>

/** A home for `npm start`: an empty data directory, a path for an env file, and ports. It may be started repeatedly. */
export class StartHome {
  readonly dir: string
  readonly dataDir: string
  readonly configFile: string
  readonly url: string
  readonly controlUrl: string
  readonly #ports: readonly [number, number]
  readonly #mark = randomUUID()

  private constructor(dir: string, ports: readonly [number, number]) {
    this.dir = dir
    this.dataDir = join(dir, 'data')
    this.configFile = join(dir, 'service.env')
    this.#ports = ports
    this.url = `http://127.0.0.1:${ports[0]}`
    this.controlUrl = `http://127.0.0.1:${ports[1]}`
  }

  static async make(): Promise<StartHome> {
    return new StartHome(await mkdtemp(join(tmpdir(), 'gateway-start-')), [await freePort(), await freePort()])
  }

  /** Runs an npm script of the checkout (`start`, `edge`, `control-plane`) in this home. */
  run(script: string, settings: TestSettings = {}): ServiceProcess {
    const own = {
      CONFIG_FILE: this.configFile,
      DATA_DIR: this.dataDir,
      API_PORT: String(this.#ports[0]),
      CONTROL_PORT: String(this.#ports[1]),
      EDGE_WORKERS: '2',
      DRAIN_NOTICE_SECONDS: '0',
      // The checkout is ready. Starts of other tests would wait for its lock, and say so among the lines of this one.
      SETUP: 'off',
    }
    const command = ['npm', '--prefix', CHECKOUT, 'run', '--silent', script]
    return new ServiceProcess(`npm run ${script}`, command, environment(this.#mark, { ...own, ...settings }))
  }

  /** Returns everything left of the runs in this home, and kills the processes among it. */
  async left(): Promise<string[]> {
    return [...(await processesLeft(this.#mark)), ...(await portsLeft(this.#ports))]
  }

  async remove(): Promise<void> {
    await processesLeft(this.#mark)
    await rm(this.dir, { recursive: true, force: true })
  }
}

/** Waits for the last line of the output, and parses all of it; throws if the command ends before. */
export async function printed(start: ServiceProcess): Promise<Printed> {
  await start.line(({ raw }) => /^ {2}Gateway +ready/.test(raw))
  const lines = start.lines.map(({ raw }) => /^ {2}(\w+) +(\S.*)$/.exec(raw)).filter((match) => match !== null)
  return Object.fromEntries(lines.map(([, label = '', text = '']) => [label, text]))
}

/** Sends SIGTERM to the npm process, as a supervisor would. */
export async function terminate(start: ServiceProcess): Promise<Ending> {
  start.signal('SIGTERM')
  return start.ended()
}
