import { createRequire } from 'node:module'
import { coded } from '@gateway/contracts/messages.js'
import type { TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { confinement } from '@gateway/core/processes/confinement.js'
import { fail } from '../failure.js'
import type { Engine } from './engine.js'
import { systemGdal } from './gdal.js'
import { wasmGdal } from './wasm.js'

/** Returns the engine that a request names. `auto` uses the system's GDAL if it is there and can be confined. */
export function chooseEngine(request: TilingRequest, temp: string, log: (message: string) => void): Engine {
  const { memory_mb, idle_timeout_seconds } = request.limits
  const confined = confinement(memory_mb)
  if (confined.missing.length > 0) log(`this machine does not permit: ${confined.missing.join(', ')}`)
  const gdal = request.engine === 'wasm' ? null : systemGdal(temp, confined, idle_timeout_seconds)
  if (!gdal && request.engine === 'gdal') {
    fail(coded('slice_gdal_missing'))
  }
  const engine = gdal ?? wasmGdal(temp, confinement, memory_mb, idle_timeout_seconds)
  log(`engine ${engine.name}: ${engine.description}`)
  return logged(engine, log)
}

/** Any limit serves, since nothing runs. */
const ANY_MB = 64

/** Returns the name of the engine that `auto` would choose here (null: none), and the restrictions that this machine does not permit. */
export function engineHere(): { engine: Engine['name'] | null; description: string; missing: readonly string[] } {
  const confined = confinement(ANY_MB)
  const gdal = systemGdal('', confined, 0)
  const engine = gdal ?? (hasWasm() ? wasmGdal('', confinement, ANY_MB, 0) : null)
  return { engine: engine?.name ?? null, description: engine?.description ?? '', missing: confined.missing }
}

/** Images omit it, since they contain the system's GDAL. */
function hasWasm(): boolean {
  try {
    createRequire(import.meta.url).resolve('gdal3.js')
    return true
  } catch {
    return false
  }
}

/** Logs GDAL's error output, with its control characters made visible. */
function logged(engine: Engine, log: (message: string) => void): Engine {
  return {
    ...engine,
    async run(call) {
      const outcome = await engine.run(call)
      for (const line of outcome.stderr.split('\n')) if (line.trim()) log(`${call.tool}: ${line}`)
      return outcome
    },
  }
}
