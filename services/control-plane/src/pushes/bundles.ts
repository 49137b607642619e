import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { rootOf, type StoredBasemap, type StoredVersion, versionTitle } from '@gateway/store/basemaps.js'
import type { StoredExport } from '@gateway/store/exports.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import { MAX_ZOOM, parseIndex } from '@gateway/tilesets/address.js'
import { geopackagePlace } from '@gateway/tilesets/geopackage/place.js'
import { archiveStorageOf } from '@gateway/tilesets/probe.js'
import { storedSet } from '@gateway/tilesets/source.js'
import { copyHere, pathsBeside } from '../catalog/local-copies.js'
import type { Bundle, BundleFile } from '../deliveries/files/bundle.js'
import { archiveMetadata, writeArchive } from '../platform/archives/write-archive.js'
import { exportFileName } from '../platform/files/export-files.js'
import { isPartOfSet, isTileName, METADATA_NAMES } from '../platform/files/tile-folder.js'

/** Returns the files of one version: its tiles or its archive. @param room maximum number of bytes staged on this disk */
export function versionBundle(
  basemap: StoredBasemap,
  version: StoredVersion,
  settings: Settings,
  room: number,
): Bundle {
  const root = rootOf(basemap, version)
  const place = `${basemap.code}/${version.version}`
  if (version.storage === 'mbtiles' || version.storage === 'pmtiles') {
    const name = `${place}.${version.storage}`
    const bundle = oneOf([{ name, path: version.path }], {
      root,
      kind: 'files',
      place: name,
      code: basemap.code,
      compressible: false,
    })
    return isRemote(root) ? fetchedFirst(bundle, async () => [version.path], settings, room) : bundle
  }
  const { storage, path: tiles, minZoom, maxZoom, bounds } = version
  const own = fileOf(version.path)
  const folder = {
    root,
    kind: 'folder',
    place,
    code: basemap.code,
    compressible: false,
    files: () => (storage === 'xyz' || storage === 'tms' ? tilesOf(tiles, place) : partsOfSet(tiles, place)),
  } as const
  const single = {
    root,
    kind: 'files',
    place: `${place}${path.posix.extname(own ?? '')}`,
    code: basemap.code,
    compressible: false,
  } as const
  const plain = own === null ? folder : oneOf([{ name: single.place, path: own }], single)
  if (version.tileMatrixSet !== 'WebMercatorQuad') return plain
  const task = {
    set: storedSet(version, root),
    area: { minZoom, maxZoom, bounds: null },
    bounds,
    metadata: archiveMetadata(versionTitle(basemap, version), version),
    maxBytes: room,
  }
  const write = async (file: string, signal: AbortSignal) => void (await writeArchive({ ...task, file }, signal))
  return { ...plain, asArchive: { name: `${place}.pmtiles`, write } }
}

/** Returns the archive of an export, as the version that it contains completely or in part. */
export function exportBundle(exported: StoredExport, directory: string): Bundle {
  const { basemapCode, version, format } = exported
  const name = `${basemapCode}/${version}.${format}`
  const file = { name, path: path.join(directory, exportFileName(exported)) }
  return oneOf([file], { root: directory, kind: 'files', place: name, code: basemapCode, compressible: false })
}

/** Returns all parts of a shapefile, or the single file of another vector. */
export function vectorBundle(vector: StoredVector, settings: Settings, room: number): Bundle {
  const bundle = vectorFiles(vector)
  if (!isRemote(vector.sourcePath)) return bundle
  if (vector.kind !== 'shapefile') return fetchedFirst(bundle, async () => [vector.path], settings, room)
  const base = path.posix.basename(vector.path).slice(0, -path.posix.extname(vector.path).length)
  const isPart = (name: string) => isPartOfShapefile(base, name)
  const parts = async (signal: AbortSignal) => {
    const found = await pathsBeside(
      settings,
      vector.sourcePath,
      vector.path.slice(0, vector.path.lastIndexOf('/')),
      isPart,
      signal,
    )
    return [...found.filter((one) => one !== vector.path).sort(), vector.path]
  }
  return fetchedFirst(bundle, parts, settings, room)
}

/** Returns the same bundle for files in object storage, which are downloaded for each attempt. */
function fetchedFirst(
  bundle: Bundle,
  paths: (signal: AbortSignal) => Promise<readonly string[]>,
  settings: Settings,
  room: number,
): Bundle {
  const folder = path.posix.dirname(bundle.place)
  return {
    ...bundle,
    async prepare(signal) {
      const copies = await copyHere(settings, bundle.root, await paths(signal), room, signal)
      const files = copies.files.map((file) => ({ name: path.posix.join(folder, path.basename(file)), path: file }))
      return { ...oneOf(files, { ...bundle, root: copies.folder }), release: copies.remove }
    },
  }
}

function vectorFiles(vector: StoredVector): Bundle {
  const { sourcePath: root, relativePath: place, code } = vector
  const head = { root, kind: 'files', place, code, compressible: true } as const
  if (vector.kind !== 'shapefile') return oneOf([{ name: vector.relativePath, path: vector.path }], head)
  return { ...head, files: () => partsOf(vector) }
}

function oneOf(files: readonly BundleFile[], head: Omit<Bundle, 'files' | 'prepare'>): Bundle {
  return {
    ...head,
    files: async function* () {
      yield* files
    },
  }
}

/** Returns the file of a version, for a GeoPackage the whole file; null if the version is a folder. */
function fileOf(place: string): string | null {
  return archiveStorageOf(place) === null ? null : (geopackagePlace(place)?.file ?? place)
}

/** Yields the files of an Esri cache or of one of MapProxy's layouts, folder by folder. */
async function* partsOfSet(folder: string, place: string, below = ''): AsyncGenerator<BundleFile> {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = `${below}${entry.name}`
    if (entry.isDirectory()) yield* partsOfSet(folder, place, `${name}/`)
    else if (isPartOfSet(name)) yield { name: `${place}/${name}`, path: path.join(folder, name) }
  }
}

async function* tilesOf(folder: string, place: string): AsyncGenerator<BundleFile> {
  const file = (name: string): BundleFile => ({ name: `${place}/${name}`, path: path.join(folder, name) })
  const top = await readdir(folder)
  for (const name of METADATA_NAMES) if (top.includes(name)) yield file(name)
  for (const z of numbers(top)) {
    if (z > MAX_ZOOM) continue
    for (const x of numbers(await folderNames(path.join(folder, `${z}`)))) {
      for (const row of (await folderNames(path.join(folder, `${z}/${x}`))).sort()) {
        if (isTileName(z, x, row)) yield file(`${z}/${x}/${row}`)
      }
    }
  }
}

function numbers(names: readonly string[]): number[] {
  return names
    .map(parseIndex)
    .filter((n) => n >= 0 && Number.isFinite(n))
    .sort((a, b) => a - b)
}

/** Skips names that are files, since only folders contain tiles. */
async function folderNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return []
    throw error
  })
}

/** Yields the `.shp` last, because it completes the set if files are written one by one. */
async function* partsOf(vector: StoredVector): AsyncGenerator<BundleFile> {
  const base = path.basename(vector.path).slice(0, -path.extname(vector.path).length)
  const names = (await readdir(path.dirname(vector.path))).filter((name) => isPartOfShapefile(base, name)).sort()
  const own = path.basename(vector.path)
  for (const name of [...names.filter((other) => other !== own), own]) {
    const relative = path.posix.join(path.posix.dirname(vector.relativePath), name)
    yield { name: relative, path: path.join(path.dirname(vector.path), name) }
  }
}
