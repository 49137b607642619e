import { flipRow, MAX_ZOOM } from '../address.js'
import { formatOfExtension } from '../formats.js'

/** The numbers in a tile's path: rows are not flipped, and the zoom of an Esri cache is its level. */
export interface StoredPlace {
  readonly z: number
  readonly x: number
  readonly y: number
}

/** The file names of a folder's tiles: a pattern for each folder on the path, and for the file without its extension. */
export interface FolderLayout {
  readonly folders: readonly RegExp[]
  readonly file: RegExp
  /** parses names that match the patterns; the file's name has no extension */
  read(names: readonly string[]): StoredPlace
  /** returns a path without extension */
  write(place: StoredPlace): string
}

const number = (...parts: readonly (string | undefined)[]) => Number(parts.join(''))
const digits = (value: number, count: number) => String(value).padStart(count, '0')
const hex = (value: number) => value.toString(16).padStart(8, '0')

/** Formats a number in groups of digits: 1234 in two groups of three is 001/234. */
function grouped(value: number, groups: number, size: number): string {
  const all = digits(value, groups * size)
  return Array.from({ length: groups }, (_, i) =>
    all.slice(i * size, i === groups - 1 ? undefined : (i + 1) * size),
  ).join('/')
}

const [TWO, THREE, FOUR] = [/^\d\d$/, /^\d{3}$/, /^\d{4}$/]

/**
 * MapProxy's values of "directory_layout" for a file cache; `arcgis` is also the layout of Esri's exploded caches. `zyx` is `{z}/{y}/{x}`, as the
 * addresses of ArcGIS and WMTS have it: only the pictures tell it from `{z}/{x}/{y}`.
 */
export const FOLDER_LAYOUTS = {
  tc: {
    folders: [TWO, THREE, THREE, THREE, THREE, THREE],
    file: THREE,
    read: ([z, a, b, c, d, e, f]) => ({ z: number(z), x: number(a, b, c), y: number(d, e, f) }),
    write: ({ z, x, y }) => `${digits(z, 2)}/${grouped(x, 3, 3)}/${grouped(y, 3, 3)}`,
  },
  mp: {
    folders: [TWO, FOUR, FOUR, FOUR],
    file: FOUR,
    read: ([z, a, b, c, d]) => ({ z: number(z), x: number(a, b), y: number(c, d) }),
    write: ({ z, x, y }) => `${digits(z, 2)}/${grouped(x, 2, 4)}/${grouped(y, 2, 4)}`,
  },
  arcgis: {
    folders: [/^L\d\d$/, /^R[0-9a-f]{8}$/],
    file: /^C[0-9a-f]{8}$/,
    read: ([z = '', row = '', column = '']) => ({
      z: Number(z.slice(1)),
      x: Number.parseInt(column.slice(1), 16),
      y: Number.parseInt(row.slice(1), 16),
    }),
    write: ({ z, x, y }) => `L${digits(z, 2)}/R${hex(y)}/C${hex(x)}`,
  },
  zyx: {
    folders: [/^\d{1,2}$/, /^\d+$/],
    file: /^\d+$/,
    read: ([z, row, column]) => ({ z: Number(z), x: Number(column), y: Number(row) }),
    write: ({ z, x, y }) => `${z}/${y}/${x}`,
  },
  quadkey: {
    folders: [],
    file: /^[0-3]{0,30}$/,
    read: ([key = '']) => {
      const bits = (bit: number) => [...key].reduce((sum, digit) => sum * 2 + ((Number(digit) >> bit) & 1), 0)
      return { z: key.length, x: bits(0), y: bits(1) }
    },
    write: ({ z, x, y }) => {
      let key = ''
      for (let i = z - 1; i >= 0; i--) key += (Math.floor(x / 2 ** i) % 2) + 2 * (Math.floor(y / 2 ** i) % 2)
      return key
    },
  },
} as const satisfies Readonly<Record<string, FolderLayout>>
export type FolderLayoutName = keyof typeof FOLDER_LAYOUTS

/** Returns the layout of a storage, for example `mapproxy_tc`; null if the storage is not a folder layout. */
export function layoutNameOf(storage: string): FolderLayoutName | null {
  const name = storage === 'esri_exploded' ? 'arcgis' : storage.replace(/^mapproxy_/, '')
  return Object.hasOwn(FOLDER_LAYOUTS, name) ? (name as FolderLayoutName) : null
}

/** Returns the base name and the extension of a tile's file; null if it is not a tile in this layout. */
export function splitName({ file }: FolderLayout, name: string): readonly [string, string] | null {
  const dot = name.indexOf('.')
  if (dot < 0) return null
  const [base, extension] = [name.slice(0, dot), name.slice(dot + 1)]
  return file.test(base) && formatOfExtension(extension) !== null ? [base, extension] : null
}

/** Flips the row of a place if rows are counted from the south. */
export function storedPlace({ z, x, y }: StoredPlace, rowsFromNorth: boolean): StoredPlace {
  return { z, x, y: rowsFromNorth ? y : flipRow(z, y) }
}

export const isLevel = (z: number) => z >= 0 && z <= MAX_ZOOM
