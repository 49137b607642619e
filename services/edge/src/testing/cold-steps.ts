import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { overwriteTile } from '@gateway/tilesets/testing/mbtiles-layouts.js'
import fc from 'fast-check'
import {
  changes,
  DATABASE_ZOOM,
  DATABASES,
  DELIVERIES,
  grant,
  home,
  LEAF_ZOOM,
  natively,
  outside,
  plainly,
  root,
  state,
  tell,
  VECTOR,
  type Who,
} from './cold-edges.js'
import { OTHER_CODES, OTHERS } from './cold-others.js'

export const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values)

/** A tile's place in a folder: few places, so that a requested tile has often been written. */
export const place = fc.record({
  folder: oneOf('v1', 'v1', 'v2', 'photos/', 'roads', 'roads', 'south'),
  z: oneOf(0, 1, 1, 2),
  x: oneOf(0, 0, 1, 2, 3),
  y: oneOf(0, 0, 1),
  suffix: fc.oneof({ weight: 6, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constant('@2x') }),
})
type Place = typeof place extends fc.Arbitrary<infer T> ? T : never
const EXTENSIONS: Readonly<Record<string, string>> = { 'photos/': 'jpeg', roads: 'pbf' }
export const fileOf = ({ folder, z, x, y, suffix }: Place) =>
  path.join(root, folder, `${z}/${x}/${y}${suffix}.${EXTENSIONS[folder] ?? 'png'}`)

const CHANGES = {
  write: (file: string) => replace(file, randomBytes(300)),
  writeMiddle: (file: string) => replace(file, randomBytes(20_000)),
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

export function sample(name: string): string {
  const file = path.join(fs.realpathSync(root), name)
  if (!fs.existsSync(file)) fs.writeFileSync(file, randomBytes(500))
  return file
}

export function replace(file: string, data: Uint8Array): void {
  fs.writeFileSync(`${file}.new`, data)
  fs.renameSync(`${file}.new`, file)
}

type How = keyof typeof CHANGES

export function change(file: string, how: How): void {
  const folder = path.dirname(file)
  const keeps = ['rewrite', 'truncate', 'date', 'linkFolderOut', 'folderBack'].includes(how)
  if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() && how !== 'folderBack') return
  fs.mkdirSync(folder, { recursive: true })
  if (!keeps) fs.rmSync(file, { recursive: true, force: true })
  const isLink = fs.lstatSync(file, { throwIfNoEntry: false })
  if (keeps && isLink !== undefined && !isLink.isFile()) return
  if (how !== 'remove') CHANGES[how](file)
}

/** A requested address for a place in a folder or an archive. */
export const address = fc.oneof(
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
        // Zoom 4, which the archive's record includes, has no tiles; LEAF_ZOOM is not included, but has tiles.
        oneOf(0, LEAF_ZOOM, LEAF_ZOOM, LEAF_ZOOM, LEAF_ZOOM + 1, 3, 4, 4),
        fc.nat(140),
        fc.nat(130),
        oneOf('', '@2x', '', ''),
      )
      .map(
        ([z, x, y, suffix]) =>
          `/tiles/archive/v1/${z}/${z === 0 ? 0 : z === 3 ? 1 : z === 4 ? x % 16 : x}/${z === 0 ? 0 : z === 3 ? 1 : z === 4 ? y % 16 : y}${suffix}.png`,
      ),
  },
  { weight: 1, arbitrary: fc.nat(120).map((x) => `/tiles/packed/${LEAF_ZOOM}/${x}/0.pbf`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        oneOf(LEAF_ZOOM, LEAF_ZOOM, LEAF_ZOOM, 3, LEAF_ZOOM + 1, 31),
        fc.nat(130),
        oneOf('mvt', 'pbf', 'png'),
        fc.nat(20),
      )
      .map(([z, x, extension, odd]) => {
        const row = odd === 0 ? '01' : odd === 1 ? '9999' : odd === 2 ? '0@2x' : '0'
        const code = odd === 3 ? 'none' : odd === 4 ? 'l%61kes' : VECTOR
        return `/vectors/${code}/tiles/${z}/${x}/${row}.${extension}${odd === 5 ? '/x' : ''}`
      }),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        oneOf(...OTHER_CODES),
        oneOf('0/0/0', '3/1/1', '3/5/5', '9/300/300', '2/1/1', ''),
        fc.nat(127),
        fc.nat(127),
        fc.nat(40),
      )
      .map(([code, fixed, x, y, odd]) => {
        // Most tiles of those that are files, and of those that may be packed, lie in one corner.
        const isCorner = !['package', 'compact', 'table', 'moved', 'cog', 'jcog'].includes(code)
        const isVector = OTHERS[code].format === 'pbf'
        const [column, row] = isVector ? [x, y % 2] : isCorner ? [x % 14, y % 14] : [x, y]
        const address = fixed === '' || odd > 8 ? `${LEAF_ZOOM}/${column}/${row}` : fixed
        return `/tiles/${code}/v1/${address}${odd === 0 ? '@2x' : ''}.${OTHERS[code].format}`
      }),
  },
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

/** GetTile in key-value form: parameters in any order and case, each sometimes wrong, encoded, missing, empty or repeated. */
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
      // A request without a name means capabilities, which contain the edge's own address.
      const isLeftOut = wrong.value === null && name !== 'REQUEST'
      const other: [string, string][] = isLeftOut ? [] : [[name, wrong.value ?? '']]
      return wrong.isTwice ? [[name, value], ...other] : other
    })
    const turned = [...parameters.slice(turn), ...parameters.slice(0, turn)]
    return `/wmts?${turned.map(([name, value]) => `${isLower ? name.toLowerCase() : name}=${value}`).join('&')}`
  })

export const ask = fc
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
    /** The address of the previous request, instead of a new one. */
    again: oneOf(true, false, false, false),
    /** With the tag, or the date, of the previous response. */
    condition: oneOf('', '', '', 'tag', 'date'),
  })
  .map((asked) => ({ step: 'ask' as const, ...asked }))
export const alter = fc
  .record({ place, how: oneOf<How>(...(Object.keys(CHANGES) as How[]), 'write', 'write', 'pack') })
  .map((altered) => ({ step: 'alter' as const, ...altered }))
export const operate = oneOf(
  ...['default', 'default', 'withdraw', 'withdraw', 'root', 'token', 'token', 'archive'],
  ...['overwrite', 'replace', 'scan', 'scan'],
).map((what) => ({ step: 'operate' as const, what }))
export const step = fc.oneof(
  { weight: 30, arbitrary: ask },
  { weight: 10, arbitrary: alter },
  { weight: 1, arbitrary: operate },
)

export async function doOperate(what: string): Promise<void> {
  switch (what) {
    case 'default':
      state.defaultVersion = state.defaultVersion === 'v1' ? 'v2' : 'v1'
      return tell('alps')
    case 'withdraw':
      state.withdrawn = !state.withdrawn
      await tell(VECTOR, 'vector')
      return tell('alps')
    case 'token': {
      const disabled = changes.length % 2 === 0
      for (const { running } of [natively, plainly]) grant(running, 'ends', { disabled })
      return
    }
    case 'archive':
      // Without the change message both serve the files that they have open.
      fs.copyFileSync(path.join(root, 'archive.pmtiles'), path.join(root, 'other'))
      fs.renameSync(path.join(root, 'other'), path.join(root, 'archive.pmtiles'))
      state.archive++
      await tell(VECTOR, 'vector')
      return tell('archive')
    case 'overwrite':
      overwriteTile(path.join(root, 'tiles.mbtiles'), { z: DATABASE_ZOOM, x: 1, y: 0, data: randomBytes(500) })
      return
    case 'replace':
      // Both tiers continue to serve the files that they have open.
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
      // Archives stay open.
      state.archive++
      await tell('archive')
      await tell('packed')
      await tell(VECTOR, 'vector')
      for (const code of OTHER_CODES) await tell(code)
      state.database++
      for (const layout of DATABASES) await tell(layout)
      // An open root is resolved again four times a second.
      return sleep(300)
  }
}
