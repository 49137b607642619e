import type { EngineName, TilingRequest } from '@gateway/contracts/tiling/protocol.js'
import { confinement } from '@gateway/core/processes/confinement.js'
import { wasmGdal } from '@gateway/tiler/engines/wasm.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from './engines/engine.js'
import { systemGdal } from './engines/gdal.js'
import { runWith } from './run.js'
import { pairwise } from './testing/pairwise.js'
import { RAMP_EMPTY, RAMP_PIXELS, RAMP_REFERENCE, writeRamp } from './testing/ramp.js'
import { pixel, tile, Workshop } from './testing/workshop.js'

/** The range of values that rise from west to east in a source of each type, and a value outside of it. */
const TYPES = {
  Byte: { low: 0, high: 250, beside: 255 },
  UInt16: { low: 0, high: 40_000, beside: 65_535 },
  Int16: { low: -430, high: 8848, beside: -32_768 },
  UInt32: { low: 3e9, high: 4e9, beside: 0 },
  Int32: { low: -2e9, high: 5, beside: 2_147_483_647 },
  Float32: { low: -10.5, high: 8848.25, beside: -9999 },
  Float64: { low: 1e-6, high: 2e-6, beside: -1.7976931348623157e308 },
} as const
type Type = keyof typeof TYPES

const BANDS = {
  1: ['-b', '1'],
  2: ['-b', '1', '-b', '2', '-colorinterp_2', 'alpha'],
  3: ['-b', '1', '-b', '1', '-b', '1', '-colorinterp', 'red,green,blue'],
  4: ['-b', '1', '-b', '1', '-b', '1', '-b', '2', '-colorinterp', 'red,green,blue,alpha'],
} as const

const ROWS = pairwise(
  {
    type: Object.keys(TYPES) as Type[],
    bands: [1, 2, 3, 4] as const,
    interleave: ['PIXEL', 'BAND'] as const,
    // `NaN, not said`: the file holds such pixels and does not declare them.
    nodata: ['none', 'a value', 'NaN', 'NaN, not said'] as const,
    compression: ['NONE', 'LZW', 'DEFLATE', 'ZSTD', 'JPEG'] as const,
    tiled: ['YES', 'NO'] as const,
  },
  ({ type, bands, nodata, compression }) =>
    (compression !== 'JPEG' || (type === 'Byte' && nodata === 'none')) &&
    (!nodata.startsWith('NaN') || type.startsWith('Float')) &&
    // Which of the two says what counts would be the question of another test.
    (nodata === 'none' || bands === 1 || bands === 3),
)
type Row = (typeof ROWS)[number]

const shop = new Workshop()
const engines = new Map<EngineName, Engine>()
beforeAll(() => {
  for (const name of shop.engines) {
    const temp = shop.folder(`temp-${name}`)
    const engine = name === 'gdal' ? systemGdal(temp, confinement(2048), 60) : wasmGdal(temp, confinement, 2048, 60)
    engines.set(name, engine as Engine)
  }
})
afterAll(() => {
  for (const engine of engines.values()) engine.close()
  shop.close()
})

const nameOf = (row: Row) => Object.values(row).join(' ')
const sources = new Map<string, Promise<string>>()

function sourceOf(row: Row): Promise<string> {
  const name = nameOf(row)
  if (!sources.has(name)) sources.set(name, make(row, `${name.replace(/\W+/g, '-')}.tif`))
  return sources.get(name) as Promise<string>
}

async function make({ type, bands, interleave, nodata, compression, tiled }: Row, name: string): Promise<string> {
  const { low, high, beside } = TYPES[type]
  const empty = nodata === 'none' ? low : nodata === 'a value' ? beside : Number.NaN
  const ramp = shop.path(`ramp-${name}`)
  writeRamp(ramp, low, high, empty, type === 'UInt16' ? 65_535 : 255)
  const said = { none: [], 'a value': ['-a_nodata', String(beside)], NaN: ['-a_nodata', 'nan'], 'NaN, not said': [] }
  const quality = compression === 'JPEG' ? ['-co', 'JPEG_QUALITY=100'] : []
  const options = [`INTERLEAVE=${interleave}`, `COMPRESS=${compression}`, `TILED=${tiled}`].flatMap((o) => ['-co', o])
  return shop.make(
    name,
    'gdal_translate',
    [...RAMP_REFERENCE, '-ot', type, ...BANDS[bands], ...said[nodata], ...options, ...quality],
    ramp,
  )
}

/** Ramps of 16 bits in two bands of one plane each; the second one continues where the first one ends. */
async function twoSources(): Promise<[string, string]> {
  const sources = [
    [1000, 2000],
    [2000, 5000],
  ].map(([low, high], index) => {
    writeRamp(shop.path(`part-${index}`), low!, high!, low!, 65_535)
    const place = ['-a_srs', 'EPSG:4326', '-a_ullr', String(90 * index), '45', String(90 * index + 90), '-45']
    const shape = ['-ot', 'UInt16', ...BANDS[2], '-co', 'INTERLEAVE=BAND']
    return shop.make(`part-${index}.tif`, 'gdal_translate', [...place, ...shape], shop.path(`part-${index}`))
  })
  return [await sources[0]!, await sources[1]!]
}

describe.each(shop.engines)('with %s', (engineName) => {
  const slice = async (changes: Partial<TilingRequest> & Pick<TilingRequest, 'source_paths'>) => {
    const request = shop.request(changes)
    const log: string[] = []
    const reporter = { report: () => {}, log: (line: string) => void log.push(line) }
    await runWith(engines.get(engineName) as Engine, request, shop.path(`temp-${engineName}`), reporter)
    return { log: log.join('\n'), layer: request.staging_dir }
  }

  it('several sources together get one scale, which covers them all', async () => {
    const { layer, log } = await slice({ source_paths: await twoSources() })
    expect(log).toBe('values 1000 to 5000 become 0 to 255')
    const { data } = await tile(layer, '0/0/0.png')
    expect(pixel(data, 128 + RAMP_PIXELS - 3, 128)[0]).toBeCloseTo(255 * 0.24, -1)
    expect(pixel(data, 128 + 2 * RAMP_PIXELS - 3, 128)[0]).toBeGreaterThan(240)
  })

  it('a later source is shown by the scale of the layer, and the log reports clipped values', async () => {
    const [first, second] = await twoSources()
    const before = await slice({ source_paths: [first] })
    const after = await slice({ mode: 'accumulate', layer_dir: before.layer, source_paths: [second] })
    expect(after.log).toMatch(
      /^values 1000 to 2000 become 0 to 255, as in the layer before\nvalues from 2000 to 5000 were found: about 0.0 % of them are below 1000 and shown as 1000, 9\d % above 2000 and shown as 2000\n/,
    )
    expect(after.log).toContain('a new version, sliced from all sources of the layer together')
  })

  it.each(ROWS.map((row) => [nameOf(row), row] as const))('slices %s', async (_, row) => {
    const run = slice({ source_paths: [await sourceOf(row)] })
    if (engineName === 'wasm' && (row.compression === 'ZSTD' || row.compression === 'JPEG')) {
      return expect(run).rejects.toThrow(
        `is compressed by ${row.compression}, which gdal3.js (WebAssembly) cannot read`,
      )
    }
    const { data } = await tile((await run).layer, '0/0/0.png')
    const holes = row.nodata !== 'none' || row.bands === 2 || row.bands === 4
    const first = 128 + RAMP_EMPTY
    for (let x = 128; x < 128 + RAMP_PIXELS; x++) {
      const [red, green, blue, alpha] = pixel(data, x, 128)
      // Pixels next to the hole's edge are mixed.
      if (Math.abs(x - first + 0.5) < 2) continue
      expect([x, alpha]).toEqual([x, holes && x < first ? 0 : 255])
      if (alpha === 0) continue
      const share = Math.max(0, (x - first) / (RAMP_PIXELS - 1 - RAMP_EMPTY))
      const expected = share * (row.type === 'Byte' ? TYPES.Byte.high : 255)
      for (const colour of [red, green, blue]) expect(Math.abs((colour as number) - expected)).toBeLessThan(6)
    }
  })
})
