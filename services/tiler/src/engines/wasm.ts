import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { BARE_ENVIRONMENT, type Confinement } from '@gateway/core/processes/confinement.js'
import { killGroup, start, watchdog } from '@gateway/core/processes/run-to-end.js'
import { besideName, type Engine, type OpenFile, SOURCE_DRIVERS, type ToolCall, type ToolOutcome } from './engine.js'
import { type HostAnswer, type HostFile, type HostRequest, sourceMount, tempMount } from './wasm-protocol.js'

/** Memory in MiB that the WebAssembly build takes before it has read a pixel. */
const WASM_BASE_MB = 768

/**
 * GDAL compiled to WebAssembly, from npm, in a separate process that lives as long as the run: loading it for each
 * call would cost more than most calls. It sees only the sources of the call and the scratch folder.
 */
export function wasmGdal(
  temp: string,
  confine: (memoryMb: number) => Confinement,
  memoryMb: number,
  idle: number,
): Engine {
  const confined = confine(Math.max(memoryMb, WASM_BASE_MB))
  const host = fileURLToPath(new URL('../../dist/engines/wasm-host.js', import.meta.url))
  const [command = process.execPath, ...args] = [...confined.prefix, process.execPath, host, temp]
  let connection: Connection | null = null
  return {
    name: 'wasm',
    description: 'gdal3.js (WebAssembly)',
    sourceDrivers: SOURCE_DRIVERS,
    threads: 1,
    sourceName: (_, index) => `${sourceMount}/${besideName(index, '')}`,
    tempName: (file) => `${tempMount}/${file}`,
    run: (call) => {
      connection ??= connect(start({ command, args, env: BARE_ENVIRONMENT, descriptors: [] }), idle)
      return connection.run(call)
    },
    close: () => connection?.close(),
  }
}

interface Connection {
  run(call: ToolCall): Promise<ToolOutcome>
  close(): void
}

/** Sends one call at a time. Further calls wait their turn. */
function connect(child: ChildProcess, idleSeconds: number): Connection {
  let settle: ((outcome: ToolOutcome) => void) | null = null
  let ended: ToolOutcome | null = null
  let turn: Promise<unknown> = Promise.resolve()
  let stderr = ''
  const end = (outcome: ToolOutcome) => {
    ended ??= outcome
    killGroup(child)
    settle?.(ended)
  }
  let touch = () => {}
  createInterface({ input: child.stdout! }).on('line', (line) => {
    touch()
    const answer = JSON.parse(line) as HostAnswer
    if (answer.type === 'done') settle?.({ ...answer, stopped: null })
  })
  child.stderr!.on('data', (data: Buffer) => {
    touch()
    stderr = (stderr + data.toString('utf8')).slice(-4096)
  })
  child.stdin!.on('error', () => {})
  child.once('error', (error) => end({ code: null, stdout: '', stderr: `ERROR: ${error.message}`, stopped: null }))
  child.once('close', (code) => end({ code: code ?? -1, stdout: '', stderr: `ERROR: ended\n${stderr}`, stopped: null }))

  async function perform(call: ToolCall): Promise<ToolOutcome> {
    if (ended) return ended
    const dog = watchdog(idleSeconds, () => end({ code: null, stdout: '', stderr: '', stopped: 'idle' }))
    touch = dog.touch
    const outcome = await new Promise<ToolOutcome>((resolve) => {
      settle = resolve
      child.stdin!.write(`${JSON.stringify(requestOf(call))}\n`)
    })
    settle = null
    dog.stop()
    return outcome
  }
  return {
    run: (call) => {
      const outcome = turn.then(() => perform(call))
      turn = outcome.catch(() => {})
      return outcome
    },
    close: () => killGroup(child),
  }
}

function requestOf(call: ToolCall): HostRequest {
  return {
    tool: call.tool,
    args: [...call.args],
    input: call.input ?? '',
    sources: (call.sources ?? []).map((source) => ({
      ...fileOf(source),
      texts: source.beside.texts,
      files: source.beside.files.map((file) => ({ ...fileOf(file), suffix: file.suffix })),
    })),
  }
}

function fileOf({ realPath, identity }: OpenFile): HostFile {
  return {
    path: realPath,
    dev: String(identity.dev),
    ino: String(identity.ino),
    size: String(identity.size),
    ctimeNs: String(identity.ctimeNs),
  }
}
