import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createToken, tokenDigest } from '@gateway/access/token-format.js'
import type { Change } from '@gateway/contracts/change.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { LAYOUTS, overwriteTile, writeLayout } from '@gateway/tilesets/testing/mbtiles-layouts.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG } from '../sync/catalog.js'
import { Follower } from '../sync/follower.js'
import { freePort } from '../testing/free-port.js'
import { memoryReader } from '../testing/memory-reader.js'
import { type RawAnswer, RawClient, type RawRequest } from '../testing/raw-client.js'
import { READER, type RunningEdge, runEdge, takeCells, takeUsage } from '../testing/running-edge.js'
import { storedBasemap, storedVersion } from '../testing/stored-rows.js'
import { TILE_SAMPLING } from '../usage/tile-counts.js'

/*
 * Two edges in whose memory no tile fits, over the same files: one reads tiles without JavaScript, the other with it. Between requests the files and
 * the catalog change under both.
 */

/** The same steps in every run. By hand others, and more: FUZZ_REQUESTS=50000 FUZZ_SEED=7 npm test -- native/cold-difference */
const STEPS = Number(process.env.FUZZ_REQUESTS ?? 1_200)
const SEED = Number(process.env.FUZZ_SEED ?? 1)
/** Less than the heads of one tile. */
const TILE_MEMORY_BYTES = 1_024
/** As AbsentTiles::kLookedFor of libs/native-edge: of so many in two seconds each is looked for. */
const MISSES_LOOKED_FOR = 1_000
const LEAF_ZOOM = 7

const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-cold-')))
/** A link, which is pointed at one of two directories. */
const root = path.join(home, 'maps')
const DELIVERIES = ['first', 'second'] as const
const outside = path.join(home, 'outside')
const TOKENS = { all: createToken(), alps: createToken(), others: createToken(), ends: createToken() }
type Who = keyof typeof TOKENS
type Layout = keyof typeof LAYOUTS
/** MBTiles, a basemap each. */
const DATABASES = Object.keys(LAYOUTS) as Layout[]
/** Beyond the leaves' 2^14 tiles of one zoom, indexes would have more levels; small pages have them with fewer. */
const DATABASE_ZOOM = 5
/** Limit of what is read of a database without JavaScript, which answers 0/0/0. */
const LARGE_BYTES = 520_000

interface Side {
  readonly running: RunningEdge
  readonly client: RawClient
  readonly follower: Follower
}
let natively: Side
let plainly: Side

/** What the catalog says. */
const state = { defaultVersion: 'v1', withdrawn: false, delivery: 0, archive: 1, database: 1 }
const changes: Change[] = []
const logState = () => ({ revision: changes.length, mark: `mark ${changes.length}`, epoch: 'one' })

const store = memoryReader({
  state: logState,
  changes: ({ revision }) => ({ covered: true, changes: changes.slice(revision), state: logState() }),
  basemaps: () => {
    const at = (name: string) => path.join(root, name)
    const of = (code: string, ...versions: Parameters<typeof storedBasemap>[1]) =>
      storedBasemap(code, versions, { sourcePath: root })
    const alps = ['v1', 'v2'].map((version) => storedVersion(version, { path: at(version) }))
    const archive = { storage: 'pmtiles', revision: state.archive } as const
    const database = { storage: 'mbtiles', revision: state.database } as const
    return [
      storedBasemap('alps', alps, {
        sourcePath: root,
        defaultVersion: state.defaultVersion,
        withdrawn: state.withdrawn,
      }),
      of('photos', storedVersion('v1', { path: at('photos'), format: 'jpg', extension: 'jpeg' })),
      of('roads', storedVersion('v1', { path: at('roads'), format: 'pbf', extension: 'pbf' })),
      of('south', storedVersion('v1', { path: at('south'), storage: 'tms', tileMatrixSet: 'WorldCRS84Quad' })),
      of('archive', storedVersion('v1', { path: at('archive.pmtiles'), ...archive })),
      of('packed', storedVersion('v1', { path: at('packed.pmtiles'), format: 'pbf', extension: 'pbf', ...archive })),
      ...DATABASES.map((layout) => {
        const isVector = layout === 'joined' || layout === 'shallow'
        const about = isVector ? ({ format: 'pbf', extension: 'pbf' } as const) : {}
        return of(layout, storedVersion('v1', { path: at(`${layout}.mbtiles`), ...about, ...database }))
      }),
    ]
  },
})

async function tell(key: string): Promise<void> {
  changes.push({ revision: changes.length + 1, kind: 'basemap', key })
  for (const { follower } of [natively, plainly]) await follower.catchUp()
}

async function writeArchives(folder: string): Promise<void> {
  const about = { bounds: [-180, -85, 180, 85] as [number, number, number, number], metadata: {} }
  const side = 2 ** LEAF_ZOOM
  const tiles = Array.from({ length: side * side }, (_, i) => {
    return { z: LEAF_ZOOM, x: i % side, y: Math.floor(i / side), data: randomBytes(20 + (i % 50)) }
  })
  const large = { z: 0, x: 0, y: 0, data: randomBytes(100_000) }
  await writePmtiles(path.join(folder, 'archive.pmtiles'), [large, ...tiles.filter((_, i) => i % 9 !== 0)], {
    ...about,
    format: 'png',
    encoding: 'identity',
  })
  for (const layout of DATABASES) writeLayout(path.join(folder, `${layout}.mbtiles`), layout, databaseTiles())
  const packed = tiles.slice(0, 100).map((tile) => ({ ...tile, data: gzipSync(tile.data) }))
  await writePmtiles(path.join(folder, 'packed.pmtiles'), packed, { ...about, format: 'pbf', encoding: 'gzip' })
}

/** Of all lengths around those of pages, some of them packed, some of them missing or empty. */
function* databaseTiles() {
  const side = 2 ** DATABASE_ZOOM
  yield { z: 0, x: 0, y: 0, data: randomBytes(LARGE_BYTES + 10_000) }
  yield { z: 1, x: 0, y: 0, data: randomBytes(LARGE_BYTES) }
  yield { z: 1, x: 1, y: 1, data: gzipSync(randomBytes(LARGE_BYTES)) }
  yield { z: 2, x: 1, y: 1, data: randomBytes(80_000) }
  for (let i = 0; i < side * side; i++) {
    const data = randomBytes(i % 7 === 0 ? 0 : i % 100 === 1 ? 9_000 : (i * 37) % 2_200)
    if (i % 11 !== 0)
      yield { z: DATABASE_ZOOM, x: i % side, y: Math.floor(i / side), data: i % 3 === 0 ? gzipSync(data) : data }
  }
}

beforeAll(async () => {
  const [first, second] = DELIVERIES.map((delivery) => path.join(home, delivery)) as [string, string]
  fs.mkdirSync(first)
  await writeArchives(first)
  // Other files, which their tags tell.
  fs.cpSync(first, second, { recursive: true })
  fs.mkdirSync(outside)
  fs.writeFileSync(path.join(outside, 'secret.png'), 'secret')
  fs.symlinkSync(path.join(home, DELIVERIES[0]), root)
  const start = async (): Promise<Side> => {
    const port = await freePort()
    const options = { catalog: EMPTY_CATALOG, dataDir: home, controlPlane: 'http://[::1]:1' }
    const running = await runEdge({ port, tileMemoryBytes: TILE_MEMORY_BYTES, ...options })
    const { edge } = running
    const follower = new Follower(
      store,
      edge.tokens,
      () => performance.now(),
      () => edge.tiles.keepOnly(follower.catalog),
      (catalog) => edge.native.follow(catalog),
    )
    await follower.catchUp()
    const freshness = {
      loaded: true,
      trustedUntilMs: Number.POSITIVE_INFINITY,
      get catalog() {
        return follower.catalog
      },
    }
    Object.assign(edge, { freshness })
    for (const who of Object.keys(TOKENS) as Who[]) grant(running, who)
    while (edge.sender.reason === 'not attached yet') await new Promise(setImmediate)
    return { running, client: new RawClient(port), follower }
  }
  natively = await start()
  plainly = await start()
  expect([natively.running.edge.sender.tier, plainly.running.edge.sender.tier]).toEqual(['native', 'copy'])
})
afterAll(async () => {
  for (const { running, client } of [natively, plainly]) {
    client.close()
    running.edge.native.close()
    await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  }
  fs.rmSync(home, { recursive: true, force: true })
})

function grant({ edge, storedTokens }: RunningEdge, who: Who, more: Partial<typeof READER> = {}): void {
  const basemaps = {
    all: ['*'],
    ends: ['*'],
    alps: ['alps'],
    others: ['photos', 'roads', 'south', 'archive', 'packed', ...DATABASES],
  }
  const digest = tokenDigest(TOKENS[who]).toString('hex')
  storedTokens.set(digest, { ...READER, id: who, basemaps: new Set(basemaps[who]), ...more })
  edge.tokens.invalidate(digest)
}

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values)

/** A tile's place in a folder: few, so that what is asked for has often been written. */
const place = fc.record({
  folder: oneOf('v1', 'v1', 'v2', 'photos/', 'roads', 'roads', 'south'),
  z: oneOf(0, 1, 1),
  x: oneOf(0, 0, 1, 2, 3),
  y: oneOf(0, 0, 1),
  suffix: fc.oneof({ weight: 6, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constant('@2x') }),
})
type Place = typeof place extends fc.Arbitrary<infer T> ? T : never
const EXTENSIONS: Readonly<Record<string, string>> = { 'photos/': 'jpeg', roads: 'pbf' }
const fileOf = ({ folder, z, x, y, suffix }: Place) =>
  path.join(root, folder, `${z}/${x}/${y}${suffix}.${EXTENSIONS[folder] ?? 'png'}`)

const CHANGES = {
  write: (file: string) => replace(file, randomBytes(300)),
  writeLarge: (file: string) => replace(file, randomBytes(70_000 + Math.floor(Math.random() * 3))),
  writeEmpty: (file: string) => replace(file, Buffer.alloc(0)),
  pack: (file: string) => replace(file, gzipSync(randomBytes(200))),
  packLarge: (file: string) => replace(file, gzipSync(randomBytes(80_000))),
  rewrite: (file: string) => fs.writeFileSync(file, randomBytes(400)),
  truncate: (file: string) => fs.writeFileSync(file, 'x'),
  date: (file: string) => fs.existsSync(file) && fs.utimesSync(file, 1e9, Math.floor(Math.random() * 1e9)),
  remove: (file: string) => fs.rmSync(file, { recursive: true }),
  directory: (file: string) => fs.mkdirSync(file),
  linkInside: (file: string) => fs.symlinkSync(path.relative(path.dirname(file), sample('inside.png')), file),
  linkInsideAbsolutely: (file: string) => fs.symlinkSync(sample('inside.png'), file),
  linkOut: (file: string) => fs.symlinkSync(path.join(outside, 'secret.png'), file),
  linkOutRelatively: (file: string) =>
    fs.symlinkSync(path.relative(fs.realpathSync(path.dirname(file)), path.join(outside, 'secret.png')), file),
  linkNowhere: (file: string) => fs.symlinkSync('nowhere.png', file),
  linkToItself: (file: string) => fs.symlinkSync(path.basename(file), file),
  linkFolderOut: (file: string) => {
    fs.rmSync(path.dirname(file), { recursive: true })
    fs.symlinkSync(outside, path.dirname(file))
  },
  folderBack: (file: string) => fs.lstatSync(path.dirname(file)).isSymbolicLink() && fs.rmSync(path.dirname(file)),
}

function sample(name: string): string {
  const file = path.join(fs.realpathSync(root), name)
  if (!fs.existsSync(file)) fs.writeFileSync(file, randomBytes(500))
  return file
}

function replace(file: string, data: Uint8Array): void {
  fs.writeFileSync(`${file}.new`, data)
  fs.renameSync(`${file}.new`, file)
}

type How = keyof typeof CHANGES

function change(file: string, how: How): void {
  const folder = path.dirname(file)
  const keeps = ['rewrite', 'truncate', 'date', 'linkFolderOut', 'folderBack'].includes(how)
  if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() && how !== 'folderBack') return
  fs.mkdirSync(folder, { recursive: true })
  if (!keeps) fs.rmSync(file, { recursive: true, force: true })
  const isLink = fs.lstatSync(file, { throwIfNoEntry: false })
  if (keeps && isLink !== undefined && !isLink.isFile()) return
  if (how !== 'remove') CHANGES[how](file)
}

/** What is asked for a place in a folder or an archive. */
const address = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(place, oneOf(0, 0, 1, 2), fc.nat(30)).map(([{ folder, z, x, y, suffix }, label, odd]) => {
      const [code, version] = folder.startsWith('v') ? ['alps', folder] : [folder.replace('/', ''), 'v1']
      const versions = label === 0 ? `/${version}` : label === 1 ? '/current' : ''
      const extension = { alps: 'png', photos: odd % 2 === 0 ? 'jpg' : 'jpeg', roads: odd % 2 === 0 ? 'pbf' : 'mvt' }
      const row = odd === 0 ? '01' : odd === 1 ? '12345678901' : odd === 2 ? '' : odd === 3 ? '2' : y
      const ending = odd === 4 ? 'PNG' : odd === 5 ? 'webp' : odd === 6 ? 'p%6eg' : (extension[code as 'alps'] ?? 'png')
      return `/tiles/${code}${versions}/${odd === 7 ? 31 : z}/${x}/${row}${suffix}.${ending}`
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        oneOf(0, LEAF_ZOOM, LEAF_ZOOM, LEAF_ZOOM, LEAF_ZOOM + 1, 3),
        fc.nat(140),
        fc.nat(130),
        oneOf('', '@2x', '', ''),
      )
      .map(([z, x, y, suffix]) => `/tiles/archive/v1/${z}/${z === 0 ? 0 : x}/${z === 0 ? 0 : y}${suffix}.png`),
  },
  { weight: 1, arbitrary: fc.nat(120).map((x) => `/tiles/packed/${LEAF_ZOOM}/${x}/0.pbf`) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        oneOf(...DATABASES),
        oneOf(0, 1, 2, ...Array<number>(12).fill(DATABASE_ZOOM), 30),
        fc.nat(33),
        fc.nat(33),
        fc.nat(9),
      )
      .map(([layout, z, x, y, odd]) => {
        const [column, row] = z === DATABASE_ZOOM ? [x, y] : [x % 2, x % 2]
        const extension = layout === 'joined' || layout === 'shallow' ? 'pbf' : 'png'
        return `/tiles/${layout}/v1/${z}/${column}/${row}${odd === 0 ? '@2x' : ''}.${extension}`
      }),
  },
)

/** GetTile by key and value: parameters in any order and case, and each now and then wrong, encoded, missing, empty or twice. */
const LAYERS: Readonly<Record<string, readonly [format: string, set: string]>> = {
  alps: ['image/png', 'WebMercatorQuad'],
  photos: ['image/jpeg', 'WebMercatorQuad'],
  roads: ['application/vnd.mapbox-vector-tile', 'WebMercatorQuad'],
  south: ['image/png', 'WorldCRS84Quad'],
  archive: ['image/png', 'WebMercatorQuad'],
  none: ['image/png', 'WebMercatorQuad'],
}
const getTile = fc
  .record({
    code: oneOf('alps', 'alps', 'photos', 'roads', 'south', 'south', 'archive', 'none'),
    z: oneOf('0', '1', '1', '1', String(LEAF_ZOOM)),
    x: oneOf('0', '0', '1', '2', '3', '90'),
    y: oneOf('0', '0', '1', '40'),
    request: oneOf('GetTile', 'GetTile', 'GetTile', 'gettile', 'GETTILE', 'GetTiles'),
    set: oneOf('', '', '', '', 'x2', 'WebMercatorQuad'),
    wrong: fc.oneof(
      { weight: 3, arbitrary: fc.constant(null) },
      {
        weight: 1,
        arbitrary: fc.record({
          name: oneOf(
            'SERVICE',
            'REQUEST',
            'VERSION',
            'LAYER',
            'STYLE',
            'TILEMATRIXSET',
            'TILEMATRIX',
            'TILEROW',
            'TILECOL',
            'FORMAT',
          ),
          value: oneOf(
            null,
            '',
            'default',
            '01',
            '12345678901',
            '1/0',
            '%31',
            '1+',
            'wmts',
            '1.0.0',
            '1.1.0',
            '../alps',
            'alps',
          ),
          isTwice: fc.boolean(),
        }),
      },
    ),
    format: oneOf<'plain' | 'encoded' | 'ENCODED' | 'wrong'>('plain', 'plain', 'encoded', 'ENCODED', 'wrong'),
    isLower: fc.boolean(),
    turn: fc.nat(9),
  })
  .map(({ code, z, x, y, request, set, wrong, format, isLower, turn }) => {
    const [type, own] = LAYERS[code] as readonly [string, string]
    const formats = {
      plain: type,
      encoded: type.replace('/', '%2F'),
      ENCODED: type.replace('/', '%2f'),
      wrong: `${type}8`,
    }
    const all: [string, string][] = [
      ...Object.entries({ SERVICE: 'WMTS', REQUEST: request, VERSION: '1.0.0', LAYER: code, STYLE: 'default' }),
      ...Object.entries({ TILEMATRIXSET: set.startsWith('x') ? own + set : set || own, TILEMATRIX: z, TILEROW: y }),
      ...Object.entries({ TILECOL: x, FORMAT: formats[format] }),
    ]
    const parameters = all.flatMap(([name, value]): [string, string][] => {
      if (wrong?.name !== name) return [[name, value]]
      // Capabilities, which a request of no name is for, have the edge's own address in them.
      const isLeftOut = wrong.value === null && name !== 'REQUEST'
      const other: [string, string][] = isLeftOut ? [] : [[name, wrong.value ?? '']]
      return wrong.isTwice ? [[name, value], ...other] : other
    })
    const turned = [...parameters.slice(turn), ...parameters.slice(0, turn)]
    return `/wmts?${turned.map(([name, value]) => `${isLower ? name.toLowerCase() : name}=${value}`).join('&')}`
  })

const ask = fc
  .record({
    method: fc.oneof({ weight: 9, arbitrary: oneOf('GET') }, { weight: 1, arbitrary: oneOf('HEAD') }),
    address: fc.oneof({ weight: 5, arbitrary: address }, { weight: 1, arbitrary: getTile }),
    query: oneOf('', '', '', '?v=3', '?missing=204', '?missing=200', '?v=missing=204'),
    who: oneOf<Who>('all', 'all', 'all', 'alps', 'others', 'ends'),
    encoding: oneOf('gzip', 'gzip', 'gzip, br', 'br', ''),
    image: oneOf<readonly [string, string][]>(
      [],
      [],
      [
        ['Sec-Fetch-Dest', 'image'],
        ['Sec-Fetch-Mode', 'no-cors'],
      ],
      [['Sec-Fetch-Dest', 'image']],
      [
        ['Sec-Fetch-Dest', 'Image'],
        ['Sec-Fetch-Mode', 'no-cors'],
      ],
    ),
    /** the address of the request before, in place of its own */
    again: oneOf(true, false, false, false),
    /** with the tag, or the date, of the answer before */
    condition: oneOf('', '', '', 'tag', 'date'),
  })
  .map((asked) => ({ step: 'ask' as const, ...asked }))
const alter = fc
  .record({ place, how: oneOf<How>(...(Object.keys(CHANGES) as How[]), 'write', 'write', 'pack') })
  .map((altered) => ({ step: 'alter' as const, ...altered }))
const operate = oneOf(
  ...['default', 'default', 'withdraw', 'withdraw', 'root', 'token', 'token', 'archive'],
  ...['overwrite', 'replace', 'scan', 'scan'],
).map((what) => ({ step: 'operate' as const, what }))
const step = fc.oneof(
  { weight: 30, arbitrary: ask },
  { weight: 10, arbitrary: alter },
  { weight: 1, arbitrary: operate },
)

async function doOperate(what: string): Promise<void> {
  switch (what) {
    case 'default':
      state.defaultVersion = state.defaultVersion === 'v1' ? 'v2' : 'v1'
      return tell('alps')
    case 'withdraw':
      state.withdrawn = !state.withdrawn
      return tell('alps')
    case 'token': {
      const disabled = changes.length % 2 === 0
      for (const { running } of [natively, plainly]) grant(running, 'ends', { disabled })
      return
    }
    case 'archive':
      // Without the news, both serve what they have open.
      fs.copyFileSync(path.join(root, 'archive.pmtiles'), path.join(root, 'other'))
      fs.renameSync(path.join(root, 'other'), path.join(root, 'archive.pmtiles'))
      state.archive++
      return tell('archive')
    case 'overwrite':
      overwriteTile(path.join(root, 'tiles.mbtiles'), { z: DATABASE_ZOOM, x: 1, y: 0, data: randomBytes(500) })
      return
    case 'replace':
      // Both serve what they have open.
      for (const layout of DATABASES) {
        fs.copyFileSync(path.join(root, `${layout}.mbtiles`), path.join(root, 'other'))
        fs.renameSync(path.join(root, 'other'), path.join(root, `${layout}.mbtiles`))
      }
      return
    case 'scan':
      state.database++
      for (const layout of DATABASES) await tell(layout)
      return
    default:
      state.delivery = 1 - state.delivery
      fs.symlinkSync(path.join(home, DELIVERIES[state.delivery] as string), `${root}.new`)
      fs.renameSync(`${root}.new`, root)
      // Archives are open.
      state.archive++
      await tell('archive')
      await tell('packed')
      state.database++
      for (const layout of DATABASES) await tell(layout)
      // An open root is looked for again four times a second.
      return sleep(300)
  }
}

const seen: Record<string, number> = {}

function counted() {
  return [natively, plainly].map(({ running: { edge } }) => {
    edge.counters.beforeReading()
    const { requests, tiles, missingTiles, tokenHits, bytesSent, hotTileHits, authFailures } = edge.counters
    return { requests, tiles, missingTiles, tokenHits, bytesSent, hotTileHits, ...authFailures }
  })
}

const targetOf = (path: string, query: string) => path + (path.includes('?') ? query.replace('?', '&') : query)

/** Asks both; notes what came without JavaScript. */
async function askBoth(request: RawRequest): Promise<[RawAnswer, RawAnswer]> {
  const { native } = natively.running.edge
  const before = native.answers
  const answer = await natively.client.ask(request)
  if (native.answers > before) {
    const isPacked = answer.lines.includes('Content-Encoding: gzip') ? ' packed' : ''
    const about = `${request.target.startsWith('/wmts') ? 'KVP' : request.method} ${answer.status}${answer.body.length > 65_536 ? ' large' : isPacked}`
    seen[about] = (seen[about] ?? 0) + 1
    const layout = DATABASES.find((each) => request.target.startsWith(`/tiles/${each}/`))
    if (layout !== undefined) seen[`${layout} ${answer.status}`] = (seen[`${layout} ${answer.status}`] ?? 0) + 1
  }
  return [answer, await plainly.client.ask(request)]
}

/** Comparing large bodies byte by byte, as `toEqual` does, would take most of the time. */
const inShort = ({ body, ...rest }: RawAnswer) => ({ ...rest, body: createHash('sha1').update(body).digest('hex') })

test('tiles are read without JavaScript exactly as with it, whatever becomes of files, catalog and tokens', {
  timeout: 120_000,
}, async () => {
  const start = counted()
  for (const { running } of [natively, plainly]) {
    takeUsage(running)
    takeCells(running)
  }
  const last = new Map<string, RawAnswer>()
  let address = ''
  for (const one of fc.sample(step, { seed: SEED, numRuns: STEPS })) {
    if (one.step === 'alter') change(fileOf(one.place), one.how)
    else if (one.step === 'operate') await doOperate(one.what)
    else {
      if (!one.again || address === '') address = one.address
      const fieldOf = (name: string) =>
        last
          .get(address)
          ?.lines.find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      const tag = one.condition === 'tag' ? fieldOf('ETag') : undefined
      const date = one.condition === 'date' ? fieldOf('Last-Modified') : undefined
      const headers: [string, string][] = [
        ['Host', 'x'],
        ['X-Access-Token', TOKENS[one.who]],
        ['Accept-Encoding', one.encoding],
        ...one.image.map(([name, value]): [string, string] => [name, value]),
      ]
      if (tag !== undefined) headers.push(['If-None-Match', tag])
      if (date !== undefined) headers.push(['If-Modified-Since', date])
      const [answer, expected] = await askBoth({
        method: one.method,
        target: targetOf(address, one.query),
        headers,
      })
      expect(inShort(answer), JSON.stringify({ ...one, address })).toEqual(inShort(expected))
      last.set(address, answer)
    }
  }
  console.log(`seed ${SEED}`, seen)
  const many = STEPS / 600
  for (const about of ['GET 200', 'GET 200 packed', 'GET 403', 'GET 404', 'HEAD 404', 'GET 304']) {
    expect(seen[about] ?? 0, `${about} of ${JSON.stringify(seen)}`).toBeGreaterThan(many)
  }
  for (const layout of DATABASES) expect(seen[`${layout} 200`] ?? 0, JSON.stringify(seen)).toBeGreaterThan(0)
  expect(seen['GET 200 large'] ?? 0, JSON.stringify(seen)).toBeGreaterThan(0)
  // Counted as exactly, and kept nowhere.
  const [quick = {}, plain = {}] = counted().map((now, i) =>
    Object.fromEntries(Object.entries(now).map(([name, n]) => [name, n - (start[i]?.[name as 'requests'] ?? 0)])),
  )
  expect(quick).toEqual(plain)
  const usage = takeUsage(plainly.running)
  expect(takeUsage(natively.running)).toEqual(usage)
  const sumOf = (kind: string, name: 'tiles' | 'tile_404' | 'bytes') =>
    usage.map((row) => JSON.parse(row)).reduce((sum, row) => (row.kind === kind ? sum + row[name] : sum), 0)
  expect([sumOf('token', 'tiles'), sumOf('token', 'tile_404'), sumOf('token', 'bytes')]).toEqual([
    plain.tiles,
    plain.missingTiles,
    plain.bytesSent,
  ])
  expect([sumOf('version', 'tiles'), sumOf('basemap', 'tiles')]).toEqual([plain.tiles, plain.tiles])
  expect(quick.hotTileHits).toBe(0)
  // Of more the two count different samples.
  if (STEPS > TILE_SAMPLING.exact) return
  const cells = takeCells(plainly.running)
  expect(takeCells(natively.running)).toEqual(cells)
  for (const name of ['tiles', 'tile_404'] as const) {
    expect(
      cells.some((row) => JSON.parse(row)[name] > 0),
      name,
    ).toBe(true)
  }
})

test('of a folder that is asked for thousands of missing tiles a new one is served, and what is there always was', async () => {
  if (state.withdrawn) await doOperate('withdraw')
  const folder = path.join(fs.realpathSync(root), 'v1')
  const there = path.join(folder, '10/1/1.png')
  fs.mkdirSync(path.dirname(there), { recursive: true })
  fs.writeFileSync(there, 'there')
  const headers: [string, string][] = [
    ['Host', 'x'],
    ['X-Access-Token', TOKENS.all],
  ]
  const ask = async (tile: string) => {
    const answer = await natively.client.ask({ method: 'GET', target: `/tiles/alps/v1/${tile}.png`, headers })
    return answer.status === 200 ? answer.body.toString() : answer.status
  }
  // One in a column that is there, one in a column that is not.
  const absent = ['10/1/2', '10/2/2']
  const { native } = natively.running.edge
  const before = native.answers
  for (let i = 0; i < 2 * MISSES_LOOKED_FOR; i++) expect(await ask(absent[i % 2] as string)).toBe(404)
  // Without JavaScript, but for what the kernel did not know yet and the one that renews the set.
  expect(native.answers - before).toBeGreaterThan(1.9 * MISSES_LOOKED_FOR)
  expect(await ask('10/1/1')).toBe('there')
  for (const tile of absent) {
    const file = path.join(folder, `${tile}.png`)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, tile)
  }
  for (const tile of absent) await expect.poll(() => ask(tile)).toBe(tile)
  expect(await ask('10/1/1')).toBe('there')
})

test('GetTile by key and value comes without JavaScript once its set is known, and is refused in the words of the WMTS', async () => {
  if (state.withdrawn) await doOperate('withdraw')
  for (const version of ['v1', 'v2']) change(path.join(fs.realpathSync(root), version, '8/3/2.png'), 'write')
  const own = ['SERVICE=WMTS', 'REQUEST=GetTile', 'VERSION=1.0.0', 'LAYER=alps', 'STYLE=default']
  const place = ['TILEMATRIXSET=WebMercatorQuad', 'TILEMATRIX=8', 'TILEROW=2', 'TILECOL=3', 'FORMAT=image/png']
  const query = [...own, ...place].join('&')
  const { native } = natively.running.edge
  const ask = async (asked: string, who: Who = 'all') => {
    const before = native.answers
    const target = `/wmts?${asked}`
    const [answer, expected] = await askBoth({
      method: 'GET',
      target,
      headers: [
        ['Host', 'x'],
        ['X-Access-Token', TOKENS[who]],
      ],
    })
    expect(answer, asked).toEqual(expected)
    return [answer.status, native.answers - before]
  }
  await expect.poll(() => ask(query)).toEqual([200, 1])
  const good = [
    query.toLowerCase().replace(/(webmercator)(quad)/, 'WebMercatorQuad'),
    query.replace('/', '%2F'),
    query.replace('/', '%2f'),
    query.replace('SERVICE=WMTS&', '').replace('VERSION=1.0.0&', '').replace('STYLE=default&', 'style=&'),
    `&&${[...place, ...own].reverse().join('&')}&v=3&LAYER=photos&missing=204`,
  ]
  // Polled, since a set may come to its end in between.
  for (const one of good) await expect.poll(() => ask(one), { message: one }).toEqual([200, 1])
  const others: [query: string, status: number][] = [
    [query.replace('TILEROW=2', 'TILEROW=1'), 404],
    [query.replace('TILEROW=2', 'TILEROW=256'), 400],
    [query.replace('TILEROW=2', 'TILEROW=02'), 400],
    [query.replace('TILEMATRIX=8', 'TILEMATRIX=8/3'), 400],
    [query.replace('WebMercatorQuad', 'WorldCRS84Quad'), 400],
    [query.replace('image/png', 'image/webp'), 400],
    [query.replace('1.0.0', '1.3.0'), 400],
    [query.replace('STYLE=', 'STYLE=x'), 400],
    [query.replace('LAYER=alps', 'LAYER=none'), 400],
    [query.replace('LAYER=alps', 'LAYER=alps/current'), 400],
  ]
  for (const [one, status] of others) expect([one, await ask(one)]).toEqual([one, [status, 0]])
  expect(await ask(query, 'others')).toEqual([403, 0])
})

/** What makes a page another one: bytes in its head or anywhere, or what stands behind it. */
const damage = fc.record({
  layout: oneOf(...DATABASES),
  bytes: fc.array(fc.tuple(fc.nat(), oneOf(true, false), fc.nat(), fc.nat(255)), { maxLength: 3 }),
  swap: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.tuple(fc.nat(), fc.nat()) }),
  cut: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() }),
  places: fc.array(fc.tuple(fc.nat(9), fc.nat(7), fc.nat(7)), { minLength: 8, maxLength: 8 }),
})

function damaged(
  whole: Buffer,
  pageBytes: number,
  { bytes, swap, cut }: typeof damage extends fc.Arbitrary<infer T> ? T : never,
): Buffer {
  const archive = Buffer.from(whole)
  const pages = archive.length / pageBytes
  // Without the first page it is no database, which opening tells.
  const page = (n: number) => archive.subarray((1 + (n % (pages - 1))) * pageBytes).subarray(0, pageBytes)
  for (const [n, isHead, at, byte] of bytes) page(n)[at % (isHead ? 40 : pageBytes)] = byte
  if (swap !== null) {
    const [one, other] = [page(swap[0]), page(swap[1])]
    const copy = Buffer.from(one)
    other.copy(one)
    copy.copy(other)
  }
  return cut === null ? archive : archive.subarray(0, cut % archive.length)
}

test('of damaged databases nothing is read without JavaScript but what SQLite reads', {
  timeout: 120_000,
}, async () => {
  if (state.withdrawn) await doOperate('withdraw')
  const tiles = Array.from({ length: 64 }, (_, i) => {
    return { z: 3, x: i % 8, y: i >> 3, data: randomBytes(i === 9 ? 70_000 : (i * 97) % 3_000) }
  })
  const whole = new Map(
    DATABASES.map((layout) => {
      const file = path.join(home, `whole-${layout}`)
      writeLayout(file, layout, [...tiles, { z: 0, x: 0, y: 0, data: randomBytes(10) }])
      return [layout, fs.readFileSync(file)]
    }),
  )
  const { native } = natively.running.edge
  const answered = { natively: 0, both: 0 }
  for (const one of fc.sample(damage, { seed: SEED, numRuns: Math.ceil(STEPS / 30) })) {
    const { layout, places } = one
    replace(path.join(root, `${layout}.mbtiles`), damaged(whole.get(layout) as Buffer, LAYOUTS[layout].pageBytes, one))
    state.database++
    for (const each of DATABASES) await tell(each)
    const extension = layout === 'joined' || layout === 'shallow' ? 'pbf' : 'png'
    const headers: [string, string][] = [
      ['Host', 'x'],
      ['X-Access-Token', TOKENS.all],
    ]
    // The first two are what JavaScript asks the reader and tells of.
    for (const [z, x, y] of [[3, 1, 1], [3, 0, 0], ...places] as const) {
      const target = `/tiles/${layout}/v1/${z === 0 ? '0/0/0' : `3/${x}/${y}`}.${extension}`
      const before = native.answers
      const answer = await natively.client.ask({ method: 'GET', target, headers })
      if (native.answers === before) continue
      const expected = await plainly.client.ask({ method: 'GET', target, headers })
      answered.natively++
      // SQLite refuses the whole page for a cell that nobody asked for.
      if (expected.status >= 500) continue
      answered.both++
      expect(inShort(answer), JSON.stringify(one)).toEqual(inShort(expected))
    }
  }
  console.log(`seed ${SEED}`, answered)
  expect(answered.both).toBeGreaterThan(STEPS / 30)
})

test.each(['a folder', 'a database'])(
  'a reader that pauses gets every byte of the tiles of %s that it asked for in a row',
  async (where) => {
    const isFolder = where === 'a folder'
    const body = randomBytes(isFolder ? 60_000 : LARGE_BYTES)
    if (state.withdrawn) await doOperate('withdraw')
    if (isFolder) {
      const file = path.join(fs.realpathSync(root), 'v1/9/1/1.png')
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, body)
    } else {
      const file = path.join(home, 'paused')
      writeLayout(file, 'tiles', [{ z: 9, x: 1, y: 1, data: body }])
      fs.renameSync(file, path.join(root, 'tiles.mbtiles'))
      await doOperate('scan')
    }
    const target = isFolder ? '/tiles/alps/v1/9/1/1.png' : '/tiles/tiles/v1/9/1/1.png'
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${TOKENS.all}\r\n\r\n`
    const { client, running } = natively
    const { counters } = running.edge
    for (let i = 0; i < 2; i++) {
      await client.ask({
        method: 'GET',
        target,
        headers: [
          ['Host', 'x'],
          ['X-Access-Token', TOKENS.all],
        ],
      })
    }
    counters.beforeReading()
    const before = counters.nativeColdTiles
    const socket = net.connect(Number(new URL(running.url).port), '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.pause()
    const count = isFolder ? 200 : 30
    socket.write(`${request.repeat(count)}${request.slice(0, -2)}Connection: close\r\n\r\n`)
    // Until the kernel takes no more of it for a client that does not read.
    for (let sent = -1; sent !== counters.bytesSent; counters.beforeReading()) {
      sent = counters.bytesSent
      await sleep(50)
    }
    const parts: Buffer[] = []
    for await (const part of socket) parts.push(part as Buffer)
    const bodies = Buffer.concat(parts)
      .toString('latin1')
      .split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/)
      .slice(1)
    expect(bodies.length).toBe(count + 1)
    expect(bodies.every((one) => one === body.toString('latin1'))).toBe(true)
    counters.beforeReading()
    expect(counters.nativeColdTiles - before).toBeGreaterThan(count / 2)
  },
)
