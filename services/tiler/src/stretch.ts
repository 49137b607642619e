import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import { BLOCK_OPTIONS, openBlocks } from './blocks.js'
import { type Engine, errorsIn } from './engines/engine.js'
import { DISK_FULL, fail, quoted } from './failure.js'
import { driverOptions, type Source } from './probe.js'
import { assertUnchanged, closeSources, reopenSources } from './sources.js'

/** Values that become 0 and 255. */
export type Range = readonly [number, number]

/** Pixels of a side of each source's sample. */
const SAMPLE_PIXELS = 512
/** Maximum number of samples of all sources. More would not change the range. */
const MAX_SAMPLES = 4_000_000
/** Share of the darkest and of the brightest samples that may be cut off. */
const TAIL = 0.001
/** Minimum factor by which the range must shrink if tails are cut: outliers, not the image's own highlights. */
const WORTH_CUTTING = 1.25

/** Samples the values of all sources with non-byte pixels, to determine one common range, so that equal values look equal. */
export async function sampleValues(
  engine: Engine,
  temp: string,
  sources: readonly Source[],
  roots: readonly string[],
): Promise<number[]> {
  const measured = sources.filter((source) => source.imagery.range === 'measured')
  const values: number[] = []
  const each = Math.max(1000, Math.floor(MAX_SAMPLES / measured.length))
  for (const source of measured) {
    for (const value of await sample(engine, temp, source, roots, each)) values.push(value)
    if (values.length >= MAX_SAMPLES) break
  }
  return values
}

/** Returns a message about sampled values that a range cuts off, or null. Pure. */
export function clippingOf(values: readonly number[], [low, high]: Range): string | null {
  let [below, above] = [0, 0]
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < low) below++
    if (value > high) above++
    if (value < least) least = value
    if (value > most) most = value
  }
  if (below + above === 0) return null
  const share = (count: number) => `${((100 * count) / values.length).toPrecision(2)} %`
  return (
    `values from ${least} to ${most} were found: about ${share(below)} of them are below ${low} and shown as ${low}, ` +
    `${share(above)} above ${high} and shown as ${high}`
  )
}

/** Returns the range of sampled values, without outliers. Pure. */
export function rangeOf(values: readonly number[]): Range {
  if (values.length === 0) return [0, 1]
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.round((sorted.length - 1) * share)]!
  const whole = [at(0), at(1)] as const
  const middle = [at(TAIL), at(1 - TAIL)] as const
  const cut = middle[1] > middle[0] && whole[1] - whole[0] > WORTH_CUTTING * (middle[1] - middle[0])
  const [low, high] = cut ? middle : whole
  return high > low ? [low, high] : [low, low + 1]
}

/** Samples the values of a source's visible pixels evenly over the image. */
async function sample(
  engine: Engine,
  temp: string,
  source: Source,
  roots: readonly string[],
  limit: number,
): Promise<number[]> {
  const { colours, masks, maskedBy } = source.imagery
  const bands = [...new Set(colours)]
  // Non-numeric values are skipped anyway.
  const maskBands = maskedBy === 'number' ? [] : masks.map((mask) => (maskedBy === 'mask' ? `mask,${mask}` : mask))
  const shrink = Math.min(1, SAMPLE_PIXELS / Math.max(source.width, source.height))
  const size = [source.width, source.height].map((pixels) => String(Math.max(1, Math.round(pixels * shrink))))
  const target = join(temp, 'sample.tif')
  const opened = await reopenSources([source], roots)
  try {
    const selected = [...bands, ...maskBands].flatMap((band) => ['-b', String(band)])
    const outcome = await engine.run({
      tool: 'gdal_translate',
      args: [
        ...['-q', ...driverOptions(engine), ...selected, '-outsize', ...size, '-ot', 'Float64', '-of', 'GTiff'],
        ...['-co', 'TILED=YES', '-co', 'BIGTIFF=YES', '-co', 'BLOCKXSIZE=512', '-co', 'BLOCKYSIZE=512'],
        ...[...BLOCK_OPTIONS, engine.sourceName(opened[0]!, 0), engine.tempName('sample.tif')],
      ],
      sources: opened,
    })
    await assertUnchanged(opened, [source.path])
    if (/no space left/i.test(outcome.stderr)) fail(DISK_FULL)
    if (outcome.code !== 0 || outcome.stopped || errorsIn(outcome).length > 0) {
      fail(coded('slice_pixels_unreadable', { source: quoted(source.path) }))
    }
    return visibleValues(target, bands.length, maskBands.length, Number(size[0]), Number(size[1]), limit)
  } finally {
    await closeSources(opened)
    await rm(target, { force: true })
  }
}

function visibleValues(
  file: string,
  bands: number,
  masks: number,
  width: number,
  height: number,
  limit: number,
): number[] {
  const samples = bands + masks
  const blocks = openBlocks(file, { width, height, blockSize: 512, samples, sampleBytes: 8 })
  try {
    const data = blocks.read(0, 0)
    if (!data) return []
    const values: number[] = []
    const step = Math.max(1, Math.ceil((width * height * bands) / limit))
    for (let pixel = 0; pixel < width * height; pixel += step) {
      const at = (Math.floor(pixel / width) * 512 + (pixel % width)) * samples * 8
      const read = (sample: number) => data.readDoubleLE(at + sample * 8)
      let visible = masks === 0
      for (let mask = 0; mask < masks; mask++) visible ||= read(bands + mask) > 0
      if (!visible) continue
      for (let band = 0; band < bands; band++) {
        const value = read(band)
        if (Number.isFinite(value)) values.push(value)
      }
    }
    return values
  } finally {
    blocks.close()
  }
}
