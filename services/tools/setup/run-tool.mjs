/** Runs npm or tsc as a child, silent unless it fails. */
import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'

/** Signals that end a start: they are passed to the running tool, and then end this process too. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** If npm cannot reach its registry, it reacts to a signal only when it gives up, after minutes. */
const ENDS_WITHIN_MS = 2000

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {number} [niceness] scheduling priority, below that of this process if positive
 * @returns {Promise<{ok: boolean, output: string, signal?: NodeJS.Signals}>} `signal` that ended the tool
 */
export function runTool(command, args, cwd, niceness = 0) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    if (niceness > 0 && child.pid !== undefined) setPriority(child.pid, niceness)
    let output = ''
    let interrupted = null
    const collect = (chunk) => {
      output += chunk
    }
    const pass = (signal) => {
      interrupted = signal
      child.kill(signal)
      setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS).unref()
    }
    child.stdout.setEncoding('utf8').on('data', collect)
    child.stderr.setEncoding('utf8').on('data', collect)
    // Otherwise a tool would continue after a refused start.
    const endWithMe = () => child.kill()
    process.once('exit', endWithMe)
    for (const signal of ENDING) process.on(signal, pass)
    const finish = (result) => {
      for (const signal of ENDING) process.off(signal, pass)
      process.off('exit', endWithMe)
      resolve(result)
    }
    child.on('error', (error) => finish({ ok: false, output: error.message }))
    child.on('close', (code) => {
      if (interrupted) finish({ ok: false, output: '', signal: interrupted })
      else finish({ ok: code === 0, output: output.trim() })
    })
  })
}
