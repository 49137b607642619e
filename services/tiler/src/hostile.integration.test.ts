import { execFileSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GLOBE_REFERENCE, type Outcome, tilesIn, Workshop } from './testing/workshop.js'

/** A result that names its reason by a code, too. */
const CODED_FAILURE = {
  type: 'result',
  ok: false,
  message_code: expect.any(String),
  message_params: expect.any(Object),
}

const shop = new Workshop()
const SECRET = 'secret-of-another-file'

/** The one allowed directory, and a file outside of it that must never be read. */
let root: string
let good: string
let secretImage: string

/** Counts what anybody asks of this machine over HTTP. */
let requests = 0
const server = createServer((_, response) => {
  requests++
  response.end(SECRET)
})

beforeAll(async () => {
  root = shop.folder('root')
  good = await shop.make('root/good.tif', 'gdal_translate', [
    '-outsize',
    '512',
    '256',
    ...GLOBE_REFERENCE,
    '-co',
    'TILED=YES',
  ])
  secretImage = await shop.make('secret.tif', 'gdal_translate', ['-outsize', '512', '256', ...GLOBE_REFERENCE])
  await shop.make('bare.tif', 'gdal_translate', ['-outsize', '64', '32', '-co', 'PROFILE=BASELINE'])
  writeFileSync(shop.path('secret.txt'), SECRET)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  server.close()
  shop.close()
})

function address(): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.tif`
}

function vrt(source: string): string {
  const band = `<SimpleSource><SourceFilename>${source}</SourceFilename><SourceBand>1</SourceBand></SimpleSource>`
  return `<VRTDataset rasterXSize="512" rasterYSize="256"><SRS>EPSG:4326</SRS><GeoTransform>-180,0.7,0,90,0,-0.7</GeoTransform>
    <VRTRasterBand dataType="Byte" band="1">${band}</VRTRasterBand></VRTDataset>`
}

async function slice(source: string, engine: 'gdal' | 'wasm', limits = {}): Promise<Outcome & { staging: string }> {
  const request = shop.request({ source_paths: [source], source_roots: [root], engine, zoom_min: 0, zoom_max: 1 })
  const outcome = await shop.tile({ ...request, limits: { ...request.limits, ...limits } })
  return { ...outcome, staging: request.staging_dir }
}

it('nothing reveals if a file outside of the allowed directories exists', async () => {
  mkdirSync(shop.path('folder'))
  symlinkSync(shop.path('nowhere.tif'), join(root, 'link-to-nothing.tif'))
  symlinkSync(secretImage, join(root, 'link-to-something.tif'))
  const paths = ['secret.tif', 'nowhere.tif', 'folder', 'root/link-to-nothing.tif', 'root/link-to-something.tif']
  const told = await Promise.all(
    paths.map(async (name) => {
      const { lines, log } = await slice(shop.path(name), 'wasm')
      return JSON.stringify({ lines, log }).replaceAll(shop.path(name), 'PATH')
    }),
  )
  expect(told[0]).toContain('lies outside of the directories that SLICE_SOURCE_ROOTS names')
  expect(new Set(told).size).toBe(1)
})

interface Case {
  readonly make: (path: string) => void
  /** The reason that a person must be told. */
  readonly reason: RegExp
  /** true if GDAL must refuse the file, so that every engine has to be tested */
  readonly opened?: true
}

const UNREADABLE = /not a readable GeoTIFF, JPEG or PNG/
const wms = () => `<GDAL_WMS><Service name="TMS"><ServerUrl>${address()}</ServerUrl></Service></GDAL_WMS>`

/** The header of a GeoTIFF in EPSG:4326 of 60,000 × 60,000 pixels that holds none of them: 350 bytes that ask a reader for gigabytes. */
const HUGE_HEADER = inflateRawSync(
  Buffer.from(
    '8/TUYuBgYGDgYWBgZGFgZGBgSHjFwMCIxGZiZAazQaqYoWwQZkNiC0LVg9SIIomLIZkjDmULMDAw8DXzMDAzMDDMY2BgaGrhYWBjYGDYxsDAsL' +
      '6dGSz/jAECftVl7SmZXGEPoTPsGYgBDWkHIHSYA0yIEWwzMwMDC4jNBPIqRIwDRD8TAAA=',
    'base64',
  ),
)

const CORPUS: Record<string, Case> = {
  'vrt.tif': { make: (path) => writeFileSync(path, vrt(secretImage)), reason: UNREADABLE, opened: true },
  'vrt-raw.png': { make: (path) => writeFileSync(path, vrt('/etc/passwd')), reason: UNREADABLE },
  'vsicurl.tif': {
    make: (path) => writeFileSync(path, vrt(`/vsicurl/${address()}`)),
    reason: UNREADABLE,
    opened: true,
  },
  'wms.tif': { make: (path) => writeFileSync(path, wms()), reason: UNREADABLE },
  'text.jpg': { make: (path) => writeFileSync(path, SECRET), reason: UNREADABLE, opened: true },
  'cut-header.tif': { make: (path) => cutShort(good, path, 60), reason: UNREADABLE },
  'cut-short.tif': { make: (path) => cutShort(good, path, 300_000), reason: /damaged|cut short/, opened: true },
  'huge.tif': {
    make: (path) => writeFileSync(path, HUGE_HEADER),
    reason: /more than 1000000000 pixels/,
    opened: true,
  },
  'no-crs.tif': {
    make: (path) => cpSync(shop.path('bare.tif'), path),
    reason: /no coordinate reference system/,
  },
  'empty.tif': { make: (path) => writeFileSync(path, ''), reason: /empty/ },
  'folder.tif': { make: (path) => mkdirSync(path), reason: /not a plain file/ },
  'pipe.tif': { make: (path) => execFileSync('mkfifo', [path]), reason: /not a plain file/ },
  'missing.tif': { make: () => {}, reason: /does not exist/ },
  'link-out.tif': { make: (path) => symlinkSync(secretImage, path), reason: /outside of the directories/ },
  'link-to-text.tif': {
    make: (path) => symlinkSync(shop.path('secret.txt'), path),
    reason: /outside of the directories/,
  },
}

function cutShort(from: string, to: string, bytes: number): void {
  cpSync(from, to)
  truncateSync(to, bytes)
}

describe.each(shop.engines)('hostile and broken sources with engine %s', (engine) => {
  it.each(Object.keys(CORPUS).filter((name) => engine === shop.engines[0] || CORPUS[name]!.opened))(
    '%s fails with a reason and without a trace of another file',
    async (name) => {
      const { make, reason } = CORPUS[name]!
      const folder = join(root, engine)
      mkdirSync(folder, { recursive: true })
      make(join(folder, name))
      const { code, lines, log, staging } = await slice(join(folder, name), engine, { max_pixels: 1e9 })
      const result = lines.at(-1)
      expect(code).toBe(1)
      expect(result).toEqual({ ...CODED_FAILURE, reason: expect.stringMatching(reason) })
      expect(JSON.stringify(lines) + log).not.toContain(SECRET)
      expect(JSON.stringify(lines) + log).not.toContain('root:x:0')
      expect(log).not.toContain('\u001b')
      expect(requests).toBe(0)
      if (!/damaged/.test(JSON.stringify(result))) expect(tilesIn(staging)).toEqual([])
    },
  )

  it('files next to an image that lead elsewhere are not followed', async () => {
    const folder = join(root, `beside-${engine}`)
    mkdirSync(folder)
    cpSync(good, join(folder, 'a.tif'))
    // Overviews, a mask and metadata that GDAL would take from wherever the links lead.
    for (const extension of ['.ovr', '.msk', '.aux.xml', '.IMD'])
      symlinkSync(secretImage, join(folder, `a.tif${extension}`))
    writeFileSync(join(folder, 'a.vrt'), vrt(secretImage))
    const plain = await slice(good, engine)
    const beside = await slice(join(folder, 'a.tif'), engine)
    expect([plain.code, beside.code]).toEqual([0, 0])
    for (const name of tilesIn(plain.staging)) {
      expect(readFileSync(join(beside.staging, name)).equals(readFileSync(join(plain.staging, name)))).toBe(true)
    }
    cpSync(shop.path('bare.tif'), join(folder, 'bare.tif'))
    symlinkSync(shop.path('secret.txt'), join(folder, 'bare.prj'))
    const bare = await slice(join(folder, 'bare.tif'), engine)
    expect(bare.lines.at(-1)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('no coordinate reference system'),
    })
    expect(bare.log).not.toContain(SECRET)
  })

  it('files next to an image that name other files are not followed', async () => {
    const folder = join(root, `naming-${engine}`)
    mkdirSync(folder)
    const image = join(folder, 'a.tif')
    cpSync(good, image)
    for (const suffix of ['.ovr', '.msk', '.msk.ovr']) writeFileSync(`${image}${suffix}`, vrt(secretImage))
    const overviews = `<Metadata domain="OVERVIEWS"><MDI key="OVERVIEW_FILE">${secretImage}</MDI></Metadata>`
    const content = `<SourceFilename>${secretImage}</SourceFilename>${vrt(secretImage)}`
    writeFileSync(`${image}.aux.xml`, `<PAMDataset>${overviews}${content}</PAMDataset>`)
    const [plain, naming] = [await slice(good, engine), await slice(image, engine)]
    expect([plain.code, naming.code]).toEqual([0, 0])
    for (const name of tilesIn(plain.staging)) {
      expect(readFileSync(join(naming.staging, name)).equals(readFileSync(join(plain.staging, name)))).toBe(true)
    }
  })

  it('an image whose metadata names another file for its overviews is refused', async () => {
    const image = join(root, `overviews-${engine}.tif`)
    const domain = ' domain="OVERVIEWS"'
    // GDAL's program writes no such domain, so the attribute takes the place of letters.
    const letters = 'x'.repeat(domain.length)
    const made = await shop.make('named.tif', 'gdal_translate', ['-mo', `OVERVIEW_FILE${letters}=${secretImage}`], good)
    const bytes = readFileSync(made).toString('latin1')
    const changed = bytes.replace(`OVERVIEW_FILE${letters}"`, `OVERVIEW_FILE"${domain}`)
    expect(changed).not.toBe(bytes)
    writeFileSync(image, changed, 'latin1')
    const { code, lines, staging } = await slice(image, engine)
    expect([code, tilesIn(staging)]).toEqual([1, []])
    expect(lines.at(-1)).toMatchObject({ message_code: 'slice_source_names_file' })
  })

  it('a reference system that would make PROJ open files is refused', async () => {
    const folder = join(root, `grids-${engine}`)
    mkdirSync(folder)
    cpSync(shop.path('bare.tif'), join(folder, 'a.tif'))
    writeFileSync(join(folder, 'a.tfw'), '1\n0\n0\n-1\n0\n0\n')
    const grids = 'EXTENSION["PROJ4","+proj=longlat +nadgrids=/etc/passwd +no_defs"]'
    writeFileSync(
      join(folder, 'a.prj'),
      `GEOGCS["a",DATUM["a",SPHEROID["a",6378137,298]],PRIMEM["Greenwich",0],UNIT["degree",0.01745],${grids}]`,
    )
    const { lines } = await slice(join(folder, 'a.tif'), engine)
    expect(lines.at(-1)).toMatchObject({ ok: false, reason: expect.stringContaining('cannot be placed on the earth') })
  })

  it('more tiles than allowed are refused before any are made', async () => {
    const { code, lines, staging } = await slice(good, engine, { max_tiles: 4 })
    expect(code).toBe(1)
    expect(lines.at(-1)).toMatchObject({ ok: false, reason: expect.stringContaining('at most 4 are allowed') })
    expect(readdirSync(staging)).toEqual([])
  })
})

it('a source that changes while it is read is never used as the checked image', async () => {
  const victim = join(root, 'victim.tif')
  cpSync(good, victim)
  const request = shop.request({ source_paths: [victim], source_roots: [root], zoom_min: 0, zoom_max: 3 })
  const child = shop.start(request)
  // The plan comes after the header was checked and before any pixel is read.
  await new Promise<void>((resolve) => {
    child.stdout!.on('data', function plan(data: Buffer) {
      if (!String(data).includes('"plan"')) return
      child.stdout!.off('data', plan)
      resolve()
    })
  })
  const descriptor = openSync(victim, 'r+')
  const text = vrt(secretImage)
  writeSync(descriptor, text, 0)
  ftruncateSync(descriptor, text.length)
  closeSync(descriptor)
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code).toBe(1)
  expect(tilesIn(request.staging_dir)).toEqual([])
})

it('a source that is repeatedly swapped for a link is refused or read as the checked file', async () => {
  const path = join(root, 'swapped.tif')
  const [image, link] = [join(root, 'swap-image'), join(root, 'swap-link')]
  cpSync(good, path)
  symlinkSync(secretImage, link)
  let swapping = true
  const swaps = (async () => {
    while (swapping) {
      renameSync(path, image)
      renameSync(link, path)
      await new Promise((resolve) => setTimeout(resolve, 1))
      renameSync(path, link)
      renameSync(image, path)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })()
  const expected = await slice(good, shop.engines[0]!)
  for (let attempt = 0; attempt < 4; attempt++) {
    const { code, lines, staging } = await slice(path, shop.engines[0]!)
    if (code !== 0) {
      expect(lines.at(-1)).toMatchObject({
        ok: false,
        reason: expect.stringMatching(/outside|does not exist|was changed/),
      })
      continue
    }
    for (const name of tilesIn(expected.staging)) {
      expect(readFileSync(join(staging, name)).equals(readFileSync(join(expected.staging, name)))).toBe(true)
    }
  }
  swapping = false
  await swaps
})
