import { type GdalModule, withStrings } from './wasm-module.js'

/** Transforms points, one per line, between reference systems. The lines equal those of gdaltransform. */
export function transform(Module: GdalModule, args: readonly string[], input: string): string {
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
