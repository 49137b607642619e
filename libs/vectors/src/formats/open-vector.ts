import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { coded } from '@gateway/contracts/messages.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { fileIdentity, openBelow } from '@gateway/core/files/open-below.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { VectorFault, VectorReplaced } from '../index-file/vector-fault.js'
import { fingerprintOf, partsOf } from '../source-parts.js'
import { convertByGdal, type GdalLimits } from './convert-by-gdal.js'
import { csvLayer } from './csv.js'
import { csvGeometry } from './csv-head.js'
import { DamagedFile, type OpenVector, type SourceLayer } from './feature.js'
import { FileWindow } from './file-window.js'
import { flatgeobufLayer } from './flatgeobuf.js'
import { geojsonLayer } from './geojson.js'
import { openGeopackage } from './geopackage.js'
import { kmlVector, kmzVector } from './kml.js'
import { MAX_SIDECAR_BYTES } from './limits.js'
import { retyped } from './retyped.js'
import { shapefileLayer } from './shapefile-layer.js'
import { encodingOfText } from './text-pieces.js'
import { type UnpackedShapefile, unpackShapefiles } from './unpack-shapefiles.js'

export interface VectorSource {
  /** the directory of its scan source; files outside are not read */
  readonly root: string
  /** an absolute path */
  readonly path: string
}

export interface Opening {
  readonly source: VectorSource
  readonly kind: VectorKind
  /** of the content that is read, as the scan has it; null: the file is a copy that nobody replaces */
  readonly fingerprint: string | null
  /** of the texts, as an operator or the scan has found it; null: what the files say */
  readonly encoding: string | null
  /** name of the only layer */
  readonly code: string
  /** an empty folder for this reading only */
  readonly scratch: string
  /** of GDAL's tools */
  readonly limits: GdalLimits
  readonly progress: () => void
}

/** A vector whose files stay open. */
export interface CheckedVector extends OpenVector {
  /** Throws `VectorReplaced` if a file was written or replaced since it was opened. */
  assertUnchanged(): void
}

/** Bytes in which the columns of a CSV are searched for. */
const HEAD_BYTES = 64 * 1024

/** Opens a vector by the reader of its kind. Throws VectorFault for faults of the vector. */
export async function openVector(opening: Opening): Promise<CheckedVector> {
  const files = await openFiles(opening)
  const close = () => {
    for (const { fd } of files) fs.closeSync(fd)
  }
  try {
    const assertUnchanged = checkOf(opening, files)
    const opened = await read(opening, files)
    return {
      layers: opened.layers,
      assertUnchanged,
      close: () => {
        opened.close()
        close()
      },
    }
  } catch (error) {
    close()
    throw asFault(error)
  }
}

/** Returns the fault of a damaged file, and other errors as they are. */
export function asFault(error: unknown): unknown {
  if (error instanceof BrokenArchiveError) return damaged(new DamagedFile(0, error.message))
  return error instanceof DamagedFile ? damaged(error) : error
}

/** Describes a damaged file with the number of features that were read. */
function damaged({ read: count, message }: DamagedFile): VectorFault {
  return new VectorFault(coded('vector_damaged', { count, reason: message }))
}

interface OpenFile {
  /** the extension in lower case */
  readonly part: string
  readonly fd: number
}

/** The parts of a shapefile that are read. */
const SIDECARS = ['shx', 'dbf', 'prj', 'cpg'] as const

async function openFiles({ source, kind }: Opening): Promise<OpenFile[]> {
  const files: OpenFile[] = []
  const add = async (path: string, part: string) => {
    const opened = await openBelow(source.root, path)
    if (opened.ok) files.push({ part, fd: opened.fd })
    return opened.ok
  }
  try {
    if (!(await add(source.path, kind === 'shapefile' ? 'shp' : kind))) throw new VectorFault(coded('vector_file_gone'))
    if (kind !== 'shapefile') return files
    const names = partsOf(source.path, kind).map(({ name }) => name)
    for (const part of SIDECARS) {
      const name = names.find((one) => one.toLowerCase().endsWith(`.${part}`))
      if (name !== undefined) await add(join(dirname(source.path), basename(name)), part)
    }
    return files
  } catch (error) {
    for (const { fd } of files) fs.closeSync(fd)
    throw error
  }
}

/** Checks that the open files have the content that the scan found, so that a revision never mixes the features of two contents. */
function checkOf({ source, kind, fingerprint }: Opening, files: readonly OpenFile[]): () => void {
  if (fingerprint !== null) {
    const parts = partsOf(source.path, kind)
    const identities = new Set(parts.map(({ identity }) => identity))
    const isPart = ({ fd }: OpenFile) => identities.has(fileIdentity(fs.fstatSync(fd, { bigint: true })))
    if (fingerprintOf(parts) !== fingerprint || !files.every(isPart)) throw new VectorReplaced()
  }
  const before = files.map(({ fd }) => stateOf(fd))
  return () => {
    if (files.some(({ fd }, i) => stateOf(fd) !== before[i])) throw new VectorReplaced()
  }
}

function stateOf(fd: number): string {
  const { ino, size, mtimeNs, ctimeNs } = fs.fstatSync(fd, { bigint: true })
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

async function read(opening: Opening, files: readonly OpenFile[]): Promise<OpenVector> {
  const { source, kind, encoding, code, scratch, limits, progress } = opening
  const fd = (files[0] as OpenFile).fd
  const file = { fd, size: fs.fstatSync(fd).size }
  const one = (layer: SourceLayer): OpenVector => ({ layers: [layer], close: () => {} })
  switch (kind) {
    case 'geojson':
    case 'geojson_sequence':
      return one(geojsonLayer(file, code, encoding, progress))
    case 'csv': {
      const head = Buffer.alloc(Math.min(HEAD_BYTES, file.size))
      fs.readSync(fd, head, 0, head.length, 0)
      const geometry = csvGeometry(head, encoding ?? encodingOfText(file, progress))
      if (geometry === null) throw new VectorFault(coded('vector_no_layer'))
      return one(csvLayer(file, code, geometry, progress))
    }
    case 'flatgeobuf':
      return one(flatgeobufLayer(new FileWindow(fd, file.size), code))
    case 'shapefile':
      return one(shapefileOf(files, code, encoding))
    case 'zipped_shapefile':
      return shapefilesOf(await unpackShapefiles(fd, scratch, progress), code, encoding)
    case 'postgis':
    case 'postgis-function':
      throw new VectorFault(coded('vector_no_layer'))
    case 'geopackage':
      return openGeopackage(source.root, source.path)
    case 'kml':
      return kmlVector(file, scratch, progress)
    case 'kmz':
      return kmzVector(fd, scratch, progress)
    default: {
      const converted = await convertByGdal({ kind, fd, scratch, limits })
      try {
        return retyped(openGeopackage(fs.realpathSync(scratch), converted), kind)
      } catch (error) {
        // A source without features becomes an empty file.
        throw error instanceof BrokenArchiveError ? new VectorFault(coded('vector_no_layer')) : error
      }
    }
  }
}

function shapefileOf(files: readonly OpenFile[], name: string, encoding: string | null): SourceLayer {
  const part = (extension: string) => {
    const found = files.find(({ part: one }) => one === extension)
    return found === undefined ? null : new FileWindow(found.fd, fs.fstatSync(found.fd).size)
  }
  const small = (extension: string) => {
    const window = part(extension)
    return window === null ? null : Buffer.from(window.bytes(0, Math.min(window.size, MAX_SIDECAR_BYTES)) ?? '')
  }
  const [shp, prj] = [part('shp') as FileWindow, small('prj')]
  const parts = { shp, shx: part('shx'), dbf: part('dbf'), prj: prj?.toString() ?? null, cpg: small('cpg') }
  return shapefileLayer(parts, name, encoding)
}

/** Opens unpacked shapefiles. Folders tell layers of the same name apart. */
function shapefilesOf(shapefiles: readonly UnpackedShapefile[], code: string, encoding: string | null): OpenVector {
  const open: OpenFile[] = []
  const close = () => {
    for (const { fd } of open) fs.closeSync(fd)
  }
  try {
    const layers = shapefiles.map(({ name, files }) => {
      const own = Object.entries(files).map(([part, path]) => ({ part, fd: fs.openSync(path, 'r') }))
      open.push(...own)
      const isUnique = shapefiles.filter((other) => basename(other.name) === basename(name)).length === 1
      return shapefileOf(own, shapefiles.length === 1 ? code : isUnique ? basename(name) : name, encoding)
    })
    return { layers, close }
  } catch (error) {
    close()
    throw error
  }
}
