/** The container engine of this machine. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

/** Like findContainerEngine, but ends the process with one line if there is no engine. */
export function containerEngine() {
  const engine = findContainerEngine()
  if (engine !== null) return engine
  process.stderr.write('Neither docker (with a running daemon) nor podman is here.\n')
  process.exit(2)
}

/** Returns the engine named by CONTAINER_ENGINE, docker if its daemon responds, or podman; null if no engine is found. */
export function findContainerEngine() {
  // biome-ignore lint/style/noProcessEnv: a developer tool, not a process of the gateway
  const named = process.env.CONTAINER_ENGINE
  const program =
    named ?? ['docker', 'podman'].find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0)
  if (program === undefined) return null
  const version = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return {
    program,
    isPodman: /podman/i.test(version.stdout ?? ''),
    run: (...args) => runEngine(program, args),
    /** Like `run`, but asynchronous. */
    runBeside: async (...args) => (await promisify(execFile)(program, args)).stdout.trim(),
  }
}

function runEngine(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.trim()
}
