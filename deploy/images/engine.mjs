/** The container engine of this machine. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

/** As findContainerEngine; ends the process with one line where there is none. */
export function containerEngine() {
  const engine = findContainerEngine()
  if (engine !== null) return engine
  process.stderr.write('Neither docker (with a running daemon) nor podman is here.\n')
  process.exit(2)
}

/** What CONTAINER_ENGINE names, docker where its daemon answers, or podman; null: there is none. */
export function findContainerEngine() {
  // biome-ignore lint/style/noProcessEnv: a tool of developers, no process of the gateway
  const named = process.env.CONTAINER_ENGINE
  const program =
    named ?? ['docker', 'podman'].find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0)
  if (program === undefined) return null
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return {
    program,
    isPodman: /podman/i.test(version.stdout ?? ''),
    run: (...args) => runEngine(program, args),
    /** As `run`, while this process goes on. */
    runBeside: async (...args) => (await promisify(execFile)(program, args)).stdout.trim(),
  }
}

function runEngine(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.trim()
}
