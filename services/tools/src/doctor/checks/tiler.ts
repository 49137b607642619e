import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Settings } from '@gateway/core/settings/load.js'
import { type Finding, fault, ok, warn } from '../finding.js'
import type { Installation } from '../installation.js'

const ANSWER_WITHIN_MS = 30_000

/** Checks what slices imagery here: GDAL of the system, its WebAssembly build, or the operator's own command. */
export async function checkTiler(settings: Settings, { tiler, container }: Installation): Promise<readonly Finding[]> {
  if (settings.tilerCommand !== null) return [ok('GDAL', 'TILER_COMMAND is set: that command slices')]
  if (tiler === null) return []
  const { engine, description, missing } = await askTiler(tiler)
  const findings: Finding[] = []
  if (engine === 'gdal') findings.push(ok('GDAL', description))
  else if (engine === 'wasm')
    findings.push(
      warn(
        'GDAL',
        'no usable GDAL is installed: slicing uses the WebAssembly build, at half the speed and with fewer formats',
        'install GDAL 3.4 or later (apt install gdal-bin)',
      ),
    )
  else
    findings.push(
      fault('GDAL', 'neither GDAL nor its WebAssembly build is installed', 'install it (apt install gdal-bin)'),
    )
  // Engines permit none to a container without privileges, and nobody should give it any: the policies for its network hold instead.
  if (container && missing.length > 0)
    findings.push(ok('GDAL', `a container does not permit ${missing.join(', ')} for the tools that read images`))
  else if (missing.length > 0)
    findings.push(
      warn(
        'GDAL',
        `this machine does not permit ${missing.join(', ')} for the tools that read images`,
        'allow unprivileged user namespaces, or slice only images of people whom you trust',
      ),
    )
  return findings
}

interface Engine {
  readonly engine: 'gdal' | 'wasm' | null
  readonly description: string
  readonly missing: readonly string[]
}

async function askTiler(tiler: string): Promise<Engine> {
  const { stdout } = await promisify(execFile)(process.execPath, [tiler, '--engine'], { timeout: ANSWER_WITHIN_MS })
  return JSON.parse(stdout) as Engine
}
