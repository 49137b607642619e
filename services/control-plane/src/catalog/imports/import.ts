import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { ControlContext } from '../../platform/context.js'
import type { Admitted } from './credential.js'
import { importId } from './leftovers.js'
import { archiveMaterial, publishUpload } from './publish.js'
import { receiveUpload } from './receive.js'
import { examineArchive } from './unpack.js'
import { readUpload, slotOf } from './upload.js'

export interface Imported {
  readonly ok: true
  readonly result: {
    readonly event: string
    /** code under which it is served here; null if the event was a test */
    readonly code: string | null
    readonly version: string | null
    readonly files: number
    readonly bytes: number
  }
}

/** Runs one import, from its body to the catalog. `address` is the sender's. */
export async function runImport(
  ctx: ControlContext,
  request: IncomingMessage,
  address: string,
  admitted: Admitted,
): Promise<Imported | Refusal> {
  const id = importId()
  const { dataDir, importMaxBytes } = ctx.settings
  const folder = path.join(dataDir, 'imports')
  await mkdir(folder, { recursive: true })
  await deleteOldSpools(folder, ctx.now())
  const spool = path.join(folder, `.${id}${SPOOL_SUFFIX}`)
  try {
    const received = await receiveUpload(request, spool, admitted, importMaxBytes)
    if (!received.ok) return received
    const upload = readUpload(received.event)
    if ('code' in upload && 'params' in upload) return refuse('invalid_parameters', upload)
    if (upload.kind === 'test') {
      return { ok: true, result: { event: 'target.test', code: null, version: null, files: 0, bytes: 0 } }
    }
    const contents = await examineArchive(spool, (name) => slotOf(upload, name), importMaxBytes)
    if (!contents.ok) return contents
    const material = archiveMaterial(spool, contents, (name) => slotOf(upload, name))
    const published = await publishUpload(ctx, upload, material, id)
    if (!published.ok) return published
    const { code } = published
    const { files, bytes } = contents
    const version = upload.kind === 'basemap' ? upload.version : null
    const detail = { kind: upload.kind, version, files, bytes }
    const entry = { actor: 'import', address, action: 'import', subject: code, detail }
    await ctx.sql.begin((tx) => insertAudit(tx, entry))
    const event = upload.kind === 'basemap' ? 'basemap.version.pushed' : 'vector.pushed'
    return { ok: true, result: { event, code, version, files, bytes } }
  } finally {
    await rm(spool, { force: true })
  }
}

export const SPOOL_SUFFIX = '.spool.tmp'

/** Longer than any import takes. An older spool was left by a crash, perhaps of a process on another machine (see leftovers.ts). */
const SPOOL_LIFE_MS = 24 * 3_600_000

export async function deleteOldSpools(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(SPOOL_SUFFIX)) continue
    const spool = path.join(folder, name)
    const found = await stat(spool).catch(() => null)
    if (found !== null && now - found.mtimeMs > SPOOL_LIFE_MS) await rm(spool, { force: true })
  }
}
