import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import {
  DEFAULT_LIMITS,
  type EngineName,
  type OutputLine,
  outputLineSchema,
  type TilingRequest,
} from '@gateway/contracts/tiling/protocol.js'
import { confinement } from '@gateway/core/processes/confinement.js'
// By its package name: the built one, which finds its host program next to it.
import { wasmGdal } from '@gateway/tiler/engines/wasm.js'
import { decodeTile } from '../encode.js'
import type { Engine, Tool } from '../engines/engine.js'
import { systemGdal } from '../engines/gdal.js'
import type { Pixels } from '../pixels.js'
import { closeSources, openSource } from '../sources.js'

// biome-ignore lint/style/noProcessEnv: a setting of the test run, not of the tiler
const BUNDLES = process.env.TEST_BUNDLES
/** The built tool. A run of the layer bundles it, because it is started 240 times. */
const MAIN = BUNDLES
  ? join(BUNDLES, 'services/tiler/dist/main.js')
  : fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** Memory of a program that makes fixtures, in MiB, and seconds that it may be silent. */
const MEMORY_MB = 2048
const IDLE_SECONDS = 60

export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly lines: readonly OutputLine[]
  readonly log: string
}

/** The global picture (4096×2048, north up, no georeferencing) that fixtures are cut from. */
export const GLOBE = fileURLToPath(new URL('../../../tools/demo-data/imagery/blue-marble.jpg', import.meta.url))
export const GLOBE_REFERENCE = ['-a_srs', 'EPSG:4326', '-a_ullr', '-180', '90', '180', '-90']

/** A folder for one test file, with an engine that makes fixtures in it: the system's GDAL, or else WebAssembly. */
export class Workshop {
  readonly dir = mkdtempSync(join(tmpdir(), 'tiler-test-'))
  readonly engines: readonly EngineName[]
  private readonly engine: Engine

  constructor() {
    const gdal = systemGdal(this.dir, confinement(MEMORY_MB), IDLE_SECONDS)
    this.engine = gdal ?? wasmGdal(this.dir, confinement, MEMORY_MB, IDLE_SECONDS)
    // Without GDAL on the system, only the engine that stands in for it can be tested.
    this.engines = gdal ? ['gdal', 'wasm'] : ['wasm']
  }

  path(name: string): string {
    return join(this.dir, name)
  }

  /** Makes a fixture from the globe or from another fixture; answers its path. */
  async make(name: string, tool: Tool, args: readonly string[], from = GLOBE): Promise<string> {
    const source = { ...(await openSource(from, [])), beside: { texts: {}, files: [] } }
    try {
      const outcome = await this.engine.run({
        tool,
        args: [...args, this.engine.sourceName(source, 0), this.engine.tempName(name)],
        sources: [source],
      })
      if (outcome.code !== 0) throw new Error(`${tool} failed: ${outcome.stderr}`)
    } finally {
      await closeSources([source])
    }
    return this.path(name)
  }

  request(changes: Partial<TilingRequest> & Pick<TilingRequest, 'source_paths'>): TilingRequest {
    return {
      mode: 'mosaic',
      staging_dir: mkdtempSync(this.path('staging-')),
      temp_dir: this.path('scratch'),
      zoom_min: 0,
      zoom_max: 0,
      tile_size: 256,
      tile_format: 'png',
      engine: 'auto',
      limits: { ...DEFAULT_LIMITS, timeout_seconds: 60 },
      ...changes,
    }
  }

  /** Runs the tiling tool to its end. */
  async tile(request: TilingRequest | string): Promise<Outcome> {
    return outcomeOf(this.start(request))
  }

  start(request: TilingRequest | string): ChildProcess {
    const child = spawn(process.execPath, [MAIN])
    child.stdin.end(typeof request === 'string' ? request : JSON.stringify(request))
    return child
  }

  /** Slices into a new folder and returns the folder. Throws if the tool fails. */
  async layer(changes: Partial<TilingRequest> & Pick<TilingRequest, 'source_paths'>): Promise<string> {
    const request = this.request(changes)
    const outcome = await this.tile(request)
    if (outcome.code !== 0) throw new Error(`${JSON.stringify(outcome.lines.at(-1))}\n${outcome.log}`)
    return request.staging_dir
  }

  folder(name: string): string {
    const path = this.path(name)
    mkdirSync(path, { recursive: true })
    return path
  }

  close(): void {
    this.engine.close()
    rmSync(this.dir, { recursive: true, force: true })
  }
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (code, signal) => resolve([code, signal]))
  })
  const [output, log] = await Promise.all([text(child.stdout!), text(child.stderr!)])
  const [code, signal] = await ended
  const lines = output.split('\n').flatMap((line) => (line ? [outputLineSchema.parse(JSON.parse(line))] : []))
  return { code, signal, lines, log }
}

/** The tiles of a layer as `z/x/y.format`, sorted. */
export function tilesIn(layer: string): string[] {
  const names = readdirSync(layer, { recursive: true }) as string[]
  return names.filter((name) => /^\d+\/\d+\/\d+\./.test(name)).sort()
}

export function tile(layer: string, name: string, tileSize = 256): Promise<Pixels> {
  return decodeTile(readFileSync(join(layer, name)), tileSize)
}

/** Red, green, blue and alpha of one pixel. */
export function pixel(data: Buffer, x: number, y: number, tileSize = 256): number[] {
  return [...data.subarray((y * tileSize + x) * 4, (y * tileSize + x) * 4 + 4)]
}

/** Peak signal-to-noise ratio in dB of the colours where both are opaque; infinite where they are equal. */
export function psnr(a: Buffer, b: Buffer): number {
  let squares = 0
  let count = 0
  for (let i = 0; i < a.length; i += 4) {
    if (a[i + 3] !== 255 || b[i + 3] !== 255) continue
    for (let band = 0; band < 3; band++) squares += (a[i + band]! - b[i + band]!) ** 2
    count += 3
  }
  if (count === 0) throw new Error('there is nothing to compare')
  return 10 * Math.log10((255 * 255 * count) / squares)
}

/** Pixels whose alpha differs by more than `tolerance`. */
export function alphaDifferences(a: Buffer, b: Buffer, tolerance = 0): number {
  let count = 0
  for (let i = 3; i < a.length; i += 4) if (Math.abs(a[i]! - b[i]!) > tolerance) count++
  return count
}
