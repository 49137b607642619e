import { createRequire } from 'node:module'
import { GDAL_CONFIGURATION } from '@gateway/contracts/tiling/gdal-configuration.js'

/**
 * Runs ogr2ogr of GDAL's WebAssembly build: `node gdal-wasm.js FOLDER SOURCE OUTPUT DRIVER OPTION...`, where SOURCE and OUTPUT are names in FOLDER, the
 * only one that it sees. Ends with 0 if it has written the output, and writes GDAL's errors to stderr.
 */

const VECTOR = 0x04
const FOLDER = '/scratch'
/** Begins a source in a zip. */
const ZIPPED = 'vsizip:'

interface GdalModule {
  readonly FS: { mkdir(path: string): void; mount(type: object, options: object, path: string): void }
  readonly NODEFS: object
  readonly HEAPU32: Uint32Array
  ccall(name: string, result: 'number' | null, types: string[], values: unknown[]): number
  lengthBytesUTF8(text: string): number
  stringToUTF8(text: string, pointer: number, room: number): void
  _malloc(bytes: number): number
}

const [root = '', source = '', output = '', driver = '', ...options] = process.argv.slice(2)

async function load(): Promise<GdalModule> {
  const require = createRequire(import.meta.url)
  // The build reads its data file relative to the working directory.
  process.chdir(require.resolve('gdal3.js/package.json').replace(/package\.json$/, 'dist/package'))
  const init = require('gdal3.js/node.js') as (config: object) => Promise<{ Module: GdalModule }>
  const { Module } = await init({
    path: '.',
    env: { ...GDAL_CONFIGURATION, OGR_SQLITE_SYNCHRONOUS: 'OFF', GML_SKIP_RESOLVE_ELEMS: 'ALL' },
    logHandler: () => {},
    errorHandler: (line: string) => process.stderr.write(`ERROR: ${line}\n`),
  })
  Module.FS.mkdir(FOLDER)
  Module.FS.mount(Module.NODEFS, { root }, FOLDER)
  return Module
}

/** Passes strings as a null-terminated list of C strings. The process ends soon, which frees them. */
function listOf(Module: GdalModule, strings: readonly string[]): number {
  const pointers = strings.map((text) => {
    const room = Module.lengthBytesUTF8(text) + 1
    const pointer = Module._malloc(room)
    Module.stringToUTF8(text, pointer, room)
    return pointer
  })
  const list = Module._malloc(4 * (strings.length + 1))
  Module.HEAPU32.set([...pointers, 0], list / 4)
  return list
}

const Module = await load()
/** Options behind these words are for opening or for the library. */
const openOptions = options.flatMap((word, i) => (options[i - 1] === '-oo' ? [word] : []))
const translate = options.filter((word, i) => word !== '-oo' && options[i - 1] !== '-oo')
for (const [i, word] of options.entries())
  if (word === '--config')
    Module.ccall('CPLSetConfigOption', null, ['string', 'string'], [options[i + 1], options[i + 2]])
const words = translate.filter(
  (word, i) => word !== '--config' && translate[i - 1] !== '--config' && translate[i - 2] !== '--config',
)
const numbers = ['number', 'number', 'number', 'number', 'number']
const opened = Module.ccall(
  'GDALOpenEx',
  'number',
  ['string', ...numbers.slice(1)],
  [
    source.startsWith(ZIPPED) ? `/vsizip/${FOLDER}/${source.slice(ZIPPED.length)}` : `${FOLDER}/${source}`,
    VECTOR,
    listOf(Module, [driver]),
    listOf(Module, openOptions),
    0,
  ],
)
if (opened === 0) {
  process.stderr.write('ERROR: Unable to open datasource\n')
  process.exit(1)
}
const parsed = Module.ccall('GDALVectorTranslateOptionsNew', 'number', ['number', 'number'], [listOf(Module, words), 0])
const sources = Module._malloc(4)
Module.HEAPU32[sources / 4] = opened
const made = Module.ccall(
  'GDALVectorTranslate',
  'number',
  ['string', ...numbers],
  [`${FOLDER}/${output}`, 0, 1, sources, parsed, 0],
)
if (made !== 0) Module.ccall('GDALClose', null, ['number'], [made])
process.exit(made === 0 ? 1 : 0)
