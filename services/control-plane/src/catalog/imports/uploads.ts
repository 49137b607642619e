import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import type { ControlContext } from '../../platform/context.js'
import { syncFolder } from '../../platform/files/stage.js'
import { importStyleFile } from '../styles/import-style.js'
import { deleteOldSpools, SPOOL_SUFFIX } from './import.js'
import { importId } from './leftovers.js'
import { archiveMaterial, type Material, publishUpload } from './publish.js'
import { receiveFile } from './receive-file.js'
import { archiveNames, examineArchive } from './unpack.js'
import { isVectorFile, type Slot, type Upload } from './upload.js'

/** Limit: unfinished uploads, each of which may fill the disk up to IMPORT_MAX_BYTES. Those without a byte for a day are deleted. */
const MAX_UPLOADS = 20

const UNKNOWN = refuse('not_found', coded('upload_not_found'))
const BUSY = refuse('conflict', coded('upload_busy'))
const TOO_MANY = refuse('too_many_requests', coded('uploads_too_many', { count: MAX_UPLOADS }))

export interface UploadTarget {
  readonly kind: 'basemap' | 'vector' | 'style'
  /** name of the file on the sender's device */
  readonly file: string
  /** complete size of the file in bytes */
  readonly bytes: number
  /** default: from the file's name, or from the folder in a zip of a style */
  readonly code?: string | undefined
  /** of a basemap */
  readonly version?: string | undefined
}

export interface UploadResult {
  readonly ok: true
  readonly code: string
  readonly warnings: readonly CodedMessage[]
}

/** Files that come in parts, kept below DATA_DIR until they are imported. The size of such a file is how much of it was received. */
export class Uploads {
  /** The parts and imports of this process; a second sender of the same file would mix its bytes. */
  readonly #busy = new Set<string>()
  readonly #ctx: ControlContext

  constructor(ctx: ControlContext) {
    this.#ctx = ctx
  }

  async begin(): Promise<string | Refusal> {
    const folder = path.join(this.#ctx.settings.dataDir, 'imports')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await deleteOldSpools(folder, this.#ctx.now())
    const unfinished = (await readdir(folder)).filter((name) => name.startsWith(PREFIX))
    if (unfinished.length >= MAX_UPLOADS) return TOO_MANY
    const id = randomUUID()
    await (await open(this.#spool(id), 'wx', 0o600)).close()
    return id
  }

  /** Returns how many bytes were received. */
  async received(id: string): Promise<number | Refusal> {
    const found = await stat(this.#spool(id)).catch(() => null)
    return found?.size ?? UNKNOWN
  }

  /** Appends a part that begins at `offset`. Returns how many bytes were received so far. */
  append(id: string, offset: number, body: IncomingMessage): Promise<number | Refusal> {
    return this.#alone(id, async () => {
      const size = await this.received(id)
      if (typeof size !== 'number') return size
      if (offset !== size) return refuse('conflict', coded('upload_offset', { received: size }))
      const most = this.#ctx.settings.importMaxBytes - size
      return (await receiveFile(body, this.#spool(id), most, 'a')) ?? this.received(id)
    })
  }

  /** Imports a complete file and deletes it. A refused one stays, so that its code or version can be corrected. */
  finish(id: string, target: UploadTarget): Promise<UploadResult | Refusal> {
    return this.#alone(id, async () => {
      const size = await this.received(id)
      if (typeof size !== 'number') return size
      if (size !== target.bytes) return refuse('conflict', coded('upload_offset', { received: size }))
      const spool = this.#spool(id)
      const outcome = await importFile(this.#ctx, spool, target)
      if (outcome.ok) await rm(spool, { force: true })
      return outcome
    })
  }

  cancel(id: string): Promise<null | Refusal> {
    return this.#alone(id, async () => {
      await rm(this.#spool(id), { force: true })
      return null
    })
  }

  async #alone<T>(id: string, work: () => Promise<T>): Promise<T | Refusal> {
    if (this.#busy.has(id)) return BUSY
    this.#busy.add(id)
    try {
      return await work()
    } finally {
      this.#busy.delete(id)
    }
  }

  #spool(id: string): string {
    return path.join(this.#ctx.settings.dataDir, 'imports', `${PREFIX}${id}${SPOOL_SUFFIX}`)
  }
}

const PREFIX = '.upload-'

async function importFile(ctx: ControlContext, spool: string, target: UploadTarget): Promise<UploadResult | Refusal> {
  const { kind, file, code } = target
  const extension = path.extname(file).toLowerCase()
  const isZip = extension === '.zip'
  if (kind === 'style') {
    const imported = await importStyleFile(ctx, spool, isZip ? 'zip' : 'json', code)
    return imported.ok ? { ok: true, code: imported.style.code, warnings: imported.warnings } : imported
  }
  const name = code ?? path.basename(file, path.extname(file))
  const upload: Upload =
    kind === 'basemap'
      ? { kind, code: name, version: target.version ?? '', name: null }
      : { kind, relativePath: `${name}${isZip ? '.shp' : extension}` }
  const material = isZip && kind === 'vector' ? await shapefile(ctx, spool, name) : plainFile(spool, upload, extension)
  if (!material.ok) return material
  return publishUpload(ctx, upload, material, importId())
}

/** The uploaded file itself, under the name that its source expects. */
function plainFile(spool: string, upload: Exclude<Upload, { kind: 'test' }>, extension: string): Material | Refusal {
  const place = upload.kind === 'basemap' ? `${upload.code}/${upload.version}${extension}` : upload.relativePath
  const isKnown = upload.kind === 'basemap' ? BASEMAP_FILES.has(extension) : isVectorFile(place)
  if (!isKnown) return refuse('invalid_parameters', coded('upload_extension', { extension }))
  const name = path.basename(place)
  return {
    ok: true,
    kind: 'files',
    place,
    // A link: a refused upload stays, and may be imported again under another code.
    async stage(folder) {
      await mkdir(folder)
      await link(spool, path.join(folder, name))
      await syncFolder(folder)
      return { ok: true, names: [name] }
    },
  }
}

const BASEMAP_FILES: ReadonlySet<string> = new Set(['.mbtiles', '.pmtiles', '.tif', '.gpkg'])

/** The one shapefile in a zip, in any folder of it and under any name. */
async function shapefile(ctx: ControlContext, spool: string, name: string): Promise<Material | Refusal> {
  const listed = await archiveNames(spool)
  if (!listed.ok) return listed
  const [found, ...more] = listed.names.filter((entry) => /\.shp$/i.test(entry) && !entry.startsWith('__MACOSX/'))
  if (found === undefined || more.length > 0)
    return refuse('invalid_parameters', coded('upload_one_shapefile', { found: more.length + (found ? 1 : 0) }))
  const folder = found.slice(0, found.lastIndexOf('/') + 1)
  const base = found.slice(folder.length, -'.shp'.length)
  const slotOf = (entry: string): Slot | 'leftover' => {
    const own = entry.slice(folder.length)
    if (!entry.startsWith(folder) || !(entry === found || isPartOfShapefile(base, own))) return 'leftover'
    return { kind: 'files', place: `${name}.shp`, name: `${name}${own.slice(base.length).toLowerCase()}` }
  }
  const contents = await examineArchive(spool, slotOf, ctx.settings.importMaxBytes)
  return contents.ok ? archiveMaterial(spool, contents, slotOf) : contents
}
