import { SOURCE_DRIVERS, type Tool } from './engine.js'
import { type GdalModule, withStrings } from './wasm-module.js'
import { sourceMount } from './wasm-protocol.js'

export interface ToolResult {
  readonly code: number
  readonly stdout: string
}

const OPEN_RASTER = 0x02 | 0x40

/** Number of words that follow an option; one for options that are not listed. */
const WORDS_AFTER: Readonly<Record<string, number>> = {
  '-q': 0,
  '-json': 0,
  '-nogcp': 0,
  '-norat': 0,
  '-nofl': 0,
  '-overwrite': 0,
  '-srcwin': 4,
  '-srcalpha': 0,
  '-dstalpha': 0,
  '-outsize': 2,
  '-ts': 2,
  '-te': 4,
  '-a_ullr': 4,
}

/** Options of command lines that the C functions do not know. */
const COMMAND_LINE_ONLY = new Set(['-q', '-if', '-overwrite'])

/** Runs one of GDAL's programs through its C function, with the arguments of the command line. */
export function runTool(Module: GdalModule, tool: Tool, args: readonly string[], input: string): ToolResult {
  Module.ccall('CPLErrorReset', null, [], [])
  if (tool === 'gdaltransform') return { code: 0, stdout: transform(Module, args, input) }
  const { options, names } = split(args)
  const target = tool === 'gdalinfo' ? null : names.pop()!
  const datasets = names.map((name) => openRaster(Module, name))
  try {
    if (datasets.includes(0)) return { code: 1, stdout: '' }
    if (tool === 'gdalinfo') return info(Module, datasets[0]!, options)
    return { code: make(Module, tool, target!, datasets, options) ? 0 : 1, stdout: '' }
  } finally {
    for (const dataset of datasets) if (dataset) Module.ccall('GDALClose', null, ['number'], [dataset])
  }
}

/** Separates options from file names. */
function split(args: readonly string[]): { options: string[]; names: string[] } {
  const options: string[] = []
  const names: string[] = []
  for (let at = 0; at < args.length; ) {
    const word = args[at]!
    const end = at + 1 + (word.startsWith('-') ? (WORDS_AFTER[word] ?? 1) : 0)
    if (!word.startsWith('-')) names.push(word)
    else if (!COMMAND_LINE_ONLY.has(word)) options.push(...args.slice(at, end))
    at = end
  }
  return { options, names }
}

function openRaster(Module: GdalModule, name: string): number {
  const allowed = name.startsWith(`${sourceMount}/`) ? SOURCE_DRIVERS : ['VRT']
  return withStrings(
    Module,
    allowed,
    (drivers) =>
      Module.ccall(
        'GDALOpenEx',
        'number',
        ['string', 'number', 'number', 'number', 'number'],
        [name, OPEN_RASTER, drivers, 0, 0],
      ) as number,
  )
}

function info(Module: GdalModule, dataset: number, options: readonly string[]): ToolResult {
  const stdout = withOptions(Module, 'GDALInfo', options, (pointer) =>
    Module.ccall('GDALInfo', 'string', ['number', 'number'], [dataset, pointer]),
  ) as string
  return { code: stdout ? 0 : 1, stdout }
}

/** Runs `gdal_translate` of one dataset or `gdalwarp` of several. Returns false if nothing was made. */
function make(Module: GdalModule, tool: Tool, target: string, datasets: readonly number[], options: string[]): boolean {
  const made = (
    tool === 'gdal_translate'
      ? withOptions(Module, 'GDALTranslate', options, (pointer) =>
          Module.ccall(
            'GDALTranslate',
            'number',
            ['string', 'number', 'number', 'number'],
            [target, datasets[0], pointer, 0],
          ),
        )
      : withOptions(Module, 'GDALWarpApp', options, (pointer) => {
          const list = Module._malloc(4 * datasets.length)
          datasets.forEach((dataset, index) => {
            Module.HEAPU32[list / 4 + index] = dataset
          })
          const types = ['string', 'number', 'number', 'number', 'number', 'number']
          const result = Module.ccall('GDALWarp', 'number', types, [target, 0, datasets.length, list, pointer, 0])
          Module._free(list)
          return result
        })
  ) as number
  if (!made) return false
  Module.ccall('GDALClose', null, ['number'], [made])
  return true
}

function withOptions(Module: GdalModule, name: string, options: readonly string[], use: (pointer: number) => unknown) {
  return withStrings(Module, options, (list) => {
    const pointer = Module.ccall(`${name}OptionsNew`, 'number', ['number', 'number'], [list, 0]) as number
    if (!pointer) throw new Error('GDAL refused its options')
    try {
      return use(pointer)
    } finally {
      Module.ccall(`${name}OptionsFree`, null, ['number'], [pointer])
    }
  })
}

/** Transforms points, one per line, between reference systems. The lines equal those of gdaltransform. */
function transform(Module: GdalModule, args: readonly string[], input: string): string {
  const points = input
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
  const systems = [`SRC_SRS=${args[args.indexOf('-s_srs') + 1]}`, `DST_SRS=${args[args.indexOf('-t_srs') + 1]}`]
  const transformer = withStrings(
    Module,
    systems,
    (options) =>
      Module.ccall(
        'GDALCreateGenImgProjTransformer2',
        'number',
        ['number', 'number', 'number'],
        [0, 0, options],
      ) as number,
  )
  if (!transformer) throw new Error('the coordinate reference system is not usable')
  const count = points.length
  const memory = Module._malloc(count * 28)
  const at = memory / 8
  const xs = points.map((point) => point[0]!)
  const ys = points.map((point) => point[1]!)
  Module.HEAPF64.set([...xs, ...ys, ...xs.map(() => 0)], at)
  const types = ['number', 'number', 'number', 'number', 'number', 'number', 'number']
  const values = [transformer, 0, count, memory, memory + 8 * count, memory + 16 * count, memory + 24 * count]
  Module.ccall('GDALGenImgProjTransform', 'number', types, values)
  const succeeded = new Int32Array(Module.HEAPF64.buffer, memory + 24 * count, count)
  const lines = points.map((_, index) =>
    succeeded[index] ? `${Module.HEAPF64[at + index]} ${Module.HEAPF64[at + count + index]}` : 'transformation failed.',
  )
  Module._free(memory)
  Module.ccall('GDALDestroyGenImgProjTransformer', null, ['number'], [transformer])
  return lines.join('\n')
}
