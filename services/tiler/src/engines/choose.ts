import type { TilingRequest } from '@gateway/tiling/protocol.js'
import { confinement } from '../confinement.js'
import { fail } from '../failure.js'
import type { Engine } from './engine.js'
import { systemGdal } from './gdal.js'
import { wasmGdal } from './wasm.js'

/** The engine that a request asks for; `auto` takes the system's GDAL where there is one that can be confined. */
export function chooseEngine(request: TilingRequest, temp: string, log: (message: string) => void): Engine {
  const { memory_mb, idle_timeout_seconds } = request.limits
  const confined = confinement(memory_mb)
  if (confined.missing.length > 0) log(`this machine does not permit: ${confined.missing.join(', ')}`)
  const gdal = request.engine === 'wasm' ? null : systemGdal(temp, confined, idle_timeout_seconds)
  if (!gdal && request.engine === 'gdal') {
    fail('the tiling tool was asked to use GDAL, but this machine has no usable GDAL (3.4 or later, Linux)')
  }
  const engine = gdal ?? wasmGdal(temp, confinement, memory_mb, idle_timeout_seconds)
  log(`engine ${engine.name}: ${engine.description}`)
  return logged(engine, log)
}

/** GDAL's error output goes to the log, its own control characters made visible. */
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
