// Compares the tiling tool with gdal2tiles.py on the same image, format, quality and effort, in paired runs:
//   node bench/slicing/compare.mjs [--size 8000] [--zooms 12-17] [--rounds 3] [--format webp|png] [--engine gdal|wasm] [--resampling cubic]
// The tiling tool resamples by cubic convolution; --resampling sets that of gdal2tiles.py, bilinear by default, which is its fastest smooth one.
// Needs gdal2tiles.py (Debian: python3-gdal, gdal-bin) and `npx tsc -b bench`. Prints a table on stderr and JSON on stdout.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { median } from '../dist/compare/summary.js'
import { family, memory } from '../dist/machine.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: '8000' },
    zooms: { type: 'string', default: '12-17' },
    rounds: { type: 'string', default: '3' },
    format: { type: 'string', default: 'webp' },
    engine: { type: 'string', default: 'gdal' },
    resampling: { type: 'string', default: 'bilinear' },
  },
})
const size = Number(options.size)
const [zoomMin, zoomMax] = options.zooms.split('-').map(Number)
/** The tiling tool's WebP quality; both tools use libwebp's default effort, 4. */
const QUALITY = '85'
const SAMPLE_MS = 100
const HALF_WORLD = Math.PI * 6378137
const dir = mkdtempSync(join(tmpdir(), 'slicing-bench-'))

/** Makes a picture with detail at all scales, one metre per pixel, in UTM, like the result of an aerial survey. */
async function makeImage() {
  const globe = fileURLToPath(new URL('../../services/tools/demo-data/imagery/blue-marble.jpg', import.meta.url))
  const land = sharp(globe)
    .extract({ left: 1800, top: 500, width: 1000, height: 1000 })
    .resize(size, size, { kernel: 'cubic' })
  const layers = []
  for (const [cell, sigma] of [
    [32, 40],
    [8, 30],
    [2, 18],
  ]) {
    const side = Math.ceil(size / cell)
    const noise = /** @type {const} */ ({ type: 'gaussian', mean: 128, sigma })
    const grain = sharp({ create: { width: side, height: side, channels: 3, background: '#808080', noise } })
    const small = await grain.grayscale().png().toBuffer()
    const input = await sharp(small)
      .resize(size, size, { kernel: 'cubic', fit: 'fill' })
      .png({ compressionLevel: 1 })
      .toBuffer()
    layers.push({ input, blend: 'overlay' })
  }
  const png = join(dir, 'image.png')
  await land.composite(layers).removeAlpha().png({ compressionLevel: 1 }).toFile(png)
  const corners = [400000, 5300000, 400000 + size, 5300000 - size].map(String)
  const layout = ['-co', 'TILED=YES', '-co', 'COMPRESS=DEFLATE']
  const image = join(dir, 'image.tif')
  must('gdal_translate', ['-q', '-a_srs', 'EPSG:32633', '-a_ullr', ...corners, ...layout, png, image])
  rmSync(png)
  return image
}

function must(command, args) {
  const { status, stderr } = spawnSync(command, args)
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`)
}

function bytesIn(folder) {
  if (!existsSync(folder)) return 0
  return Number(spawnSync('du', ['-sB1', folder]).stdout.toString().split('\t')[0])
}

/** Runs a command to its end; returns elapsed and processor time in seconds, and peak memory and scratch space. */
async function measure(command, args, input, scratch) {
  const script = `TIMEFORMAT='%R %U %S'; time "$0" "$@" 3>&2 2>/dev/null`
  const child = spawn('bash', ['-c', script, command, ...args], { stdio: ['pipe', 'ignore', 'pipe'] })
  child.stdin.end(input)
  let text = ''
  child.stderr.on('data', (data) => {
    text += data
  })
  const peak = { memory: 0, scratch: 0 }
  const timer = setInterval(() => {
    peak.memory = Math.max(peak.memory, memory(family(child.pid), 'now'))
    if (scratch) peak.scratch = Math.max(peak.scratch, bytesIn(scratch))
  }, SAMPLE_MS)
  const code = await new Promise((resolve) => child.once('close', resolve))
  clearInterval(timer)
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${text}`)
  const [wall, user, system] = text.trim().split('\n').at(-1).split(' ').map(Number)
  return { wall, cpu: user + system, ...peak }
}

function tiler(image, round) {
  const limits = { max_pixels: 1e11, max_tiles: 1e7, timeout_seconds: 7200, idle_timeout_seconds: 600, memory_mb: 2048 }
  const request = {
    mode: 'mosaic',
    source_paths: [image],
    staging_dir: join(dir, `tiler-${round}`),
    temp_dir: join(dir, 'scratch'),
    // As the control plane asks for it.
    resume: { dir: join(dir, `tiler-${round}-notes`) },
    zoom_min: zoomMin,
    zoom_max: zoomMax,
    tile_size: 256,
    tile_format: options.format,
    engine: options.engine,
    limits,
  }
  const main = join(import.meta.dirname, '../../services/tiler/dist/main.js')
  return measure(process.execPath, [main], JSON.stringify(request), request.temp_dir)
}

function gdal2tiles(image, round) {
  const driver = options.format === 'webp' ? ['--tiledriver=WEBP', `--webp-quality=${QUALITY}`] : ['--tiledriver=PNG']
  const args = ['-q', '--xyz', '--processes=2', '-z', options.zooms, '-r', options.resampling, '-w', 'none', ...driver]
  return measure('gdal2tiles.py', [...args, image, join(dir, `gdal2tiles-${round}`)], '', null)
}

/** Returns the peak signal-to-noise ratio in dB, over some tiles of the deepest zoom, against a warp without approximation. */
async function quality(image, layer) {
  const tiles = readdirSync(join(layer, String(zoomMax)), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith(options.format),
  )
  const step = Math.max(1, Math.floor(tiles.length / 25))
  let squares = 0
  let count = 0
  for (let index = 0; index < tiles.length; index += step) {
    const [x, y] = tiles[index].split(/[/.]/).map(Number)
    const width = (2 * HALF_WORLD) / 2 ** zoomMax
    const west = x * width - HALF_WORLD
    const north = HALF_WORLD - y * width
    const extent = [west, north - width, west + width, north].map(String)
    const reference = join(dir, 'reference.tif')
    const exact = ['-q', '-overwrite', '-t_srs', 'EPSG:3857', '-et', '0', '-r', 'cubic', '-dstalpha']
    must('gdalwarp', [...exact, '-te', ...extent, '-ts', '256', '256', image, reference])
    const [a, b] = await Promise.all(
      [reference, join(layer, String(zoomMax), tiles[index])].map((file) => sharp(file).ensureAlpha().raw().toBuffer()),
    )
    for (let i = 0; i < a.length; i++) {
      if (i % 4 === 3 || a[i - (i % 4) + 3] !== 255 || b[i - (i % 4) + 3] !== 255) continue
      squares += (a[i] - b[i]) ** 2
      count++
    }
  }
  return 10 * Math.log10((255 * 255 * count) / squares)
}

function summary(runs, decibels, layer) {
  const of = (key) => median(runs.map((run) => run[key]))
  return {
    wall_seconds: of('wall'),
    cpu_seconds: of('cpu'),
    peak_memory_mb: Math.round(of('memory') / 1e6),
    peak_scratch_mb: Math.round(of('scratch') / 1e6),
    layer_mb: Math.round(bytesIn(layer) / 1e6),
    psnr_db: Number(decibels.toFixed(1)),
    runs: runs.map(({ wall, cpu }) => ({ wall, cpu })),
  }
}

try {
  const { bavail, bsize } = statfsSync(dir)
  if (bavail * bsize < size * size * 40) throw new Error('there is not enough disk space for this size')
  const image = await makeImage()
  const runs = { tiler: [], gdal2tiles: [] }
  for (let round = 0; round < Number(options.rounds); round++) {
    // The order alternates between rounds, so that neither tool always has the warmer cache.
    const order = round % 2 === 0 ? [tiler, gdal2tiles] : [gdal2tiles, tiler]
    for (const run of order) runs[run.name].push(await run(image, round))
  }
  const result = {
    image: {
      size,
      zooms: options.zooms,
      format: options.format,
      engine: options.engine,
      cores: availableParallelism(),
    },
    tiler: summary(runs.tiler, await quality(image, join(dir, 'tiler-0')), join(dir, 'tiler-0')),
    gdal2tiles: summary(runs.gdal2tiles, await quality(image, join(dir, 'gdal2tiles-0')), join(dir, 'gdal2tiles-0')),
  }
  const ratios = (key) => runs.gdal2tiles.map((run, round) => run[key] / runs.tiler[round][key])
  result.times_as_fast = { wall: median(ratios('wall')), cpu: median(ratios('cpu')) }
  const { runs: _, ...columns } = result.tiler
  const rows = Object.keys(columns).map((key) => [key, String(result.tiler[key]), String(result.gdal2tiles[key])])
  console.error(textTable(['', 'tiler', 'gdal2tiles'], rows))
  console.error(
    `times as fast    wall ${result.times_as_fast.wall.toFixed(2)}   cpu ${result.times_as_fast.cpu.toFixed(2)}`,
  )
  console.log(JSON.stringify(result, null, 2))
} finally {
  rmSync(dir, { recursive: true, force: true })
}
