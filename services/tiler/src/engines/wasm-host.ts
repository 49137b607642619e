import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setFlagsFromString } from 'node:v8'
import { GDAL_CONFIGURATION } from '@gateway/contracts/tiling/gdal-configuration.js'
import { BESIDE_CONFIGURATION, besideName, type TextSuffix } from './engine.js'
import { type MountedFile, mountSources } from './wasm-files.js'
import type { GdalModule } from './wasm-module.js'
import {
  type HostAnswer,
  type HostFile,
  type HostRequest,
  type HostSource,
  sourceMount,
  tempMount,
} from './wasm-protocol.js'
import { runTool } from './wasm-tools.js'

/**
 * The process that runs GDAL's WebAssembly build: `node wasm-host.js <scratch folder>`, with one request per line on stdin and one
 * response per line on stdout. It ends with its stdin.
 */

/** Milliseconds between two heartbeats while a call reads its sources. */
const ALIVE_MS = 1000

/**
 * Work after which V8 compiles a function again, optimized: the instructions that it has run, roughly in bytes. With the 1.8 million of Node 20
 * the start of GDAL already compiles functions that are not used afterwards, which takes a quarter of the processor time of a small job.
 */
const OPTIMIZED_AFTER = 60_000_000

const scratch = process.argv[2]!
const errors: string[] = []
let lastHeartbeat = Number.NEGATIVE_INFINITY

function send(answer: HostAnswer): void {
  writeSync(1, `${JSON.stringify(answer)}\n`)
}

function heartbeat(): void {
  const now = performance.now()
  if (now - lastHeartbeat < ALIVE_MS) return
  lastHeartbeat = now
  send({ type: 'alive' })
}

async function load(): Promise<GdalModule> {
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMIZED_AFTER}`)
  const require = createRequire(import.meta.url)
  const folder = require.resolve('gdal3.js/package.json').replace(/package\.json$/, 'dist/package')
  // The build reads its data file relative to the working directory.
  process.chdir(folder)
  const init = require('gdal3.js/node.js') as (config: object) => Promise<{ Module: GdalModule }>
  const { Module } = await init({
    path: '.',
    // The mount shows GDAL nothing next to a source but what was checked.
    env: { ...GDAL_CONFIGURATION, ...BESIDE_CONFIGURATION },
    logHandler: () => {},
    errorHandler: (line: string) => errors.push(line),
  })
  Module.FS.mkdir(sourceMount)
  Module.FS.mkdir(tempMount)
  return Module
}

function openFile(source: HostFile): number {
  const descriptor = openSync(source.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  const now = fstatSync(descriptor, { bigint: true })
  const same =
    String(now.dev) === source.dev &&
    String(now.ino) === source.ino &&
    String(now.size) === source.size &&
    String(now.ctimeNs) === source.ctimeNs
  if (same) return descriptor
  closeSync(descriptor)
  throw new Error('a source is not the file that was checked')
}

function mountedFiles(source: HostSource, index: number, open: (file: HostFile) => number): MountedFile[] {
  return [
    { name: besideName(index, ''), content: open(source) },
    ...source.files.map((file) => ({ name: besideName(index, file.suffix), content: open(file) })),
    ...Object.entries(source.texts).map(([suffix, text]) => ({
      name: besideName(index, suffix as TextSuffix),
      content: Buffer.from(text),
    })),
  ]
}

function answer(Module: GdalModule, request: HostRequest): HostAnswer {
  errors.length = 0
  const descriptors: number[] = []
  try {
    const open = (file: HostFile): number => {
      const descriptor = openFile(file)
      descriptors.push(descriptor)
      return descriptor
    }
    const mounted = request.sources.flatMap((source, index) => mountedFiles(source, index, open))
    const unmount = mountSources(Module, mounted, heartbeat)
    // Mounted again for each call: the mount caches names of files that were removed from outside, and then cannot create them again.
    Module.FS.mount(Module.NODEFS, { root: scratch }, tempMount)
    try {
      const { code, stdout } = runTool(Module, request.tool, request.args, request.input)
      return { type: 'done', code, stdout, stderr: errors.join('\n') }
    } finally {
      Module.FS.unmount(tempMount)
      unmount()
    }
  } catch (error) {
    const stderr = [...errors, `ERROR: ${error instanceof Error ? error.message : error}`].join('\n')
    return { type: 'done', code: 1, stdout: '', stderr }
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

const Module = await load()
for await (const line of createInterface({ input: process.stdin }))
  send(answer(Module, JSON.parse(line) as HostRequest))
