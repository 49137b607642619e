import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import type { Refusal } from '@gateway/contracts/errors.js'
import { refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { ControlContext } from '../context.js'
import type { Admitted } from './credential.js'
import { landParcel } from './landing.js'
import { readParcel, slotOf } from './parcel.js'
import { receiveParcel } from './receive.js'
import { examineArchive } from './unpack.js'

export interface TakenIn {
  readonly ok: true
  readonly result: {
    readonly event: string
    /** the code under which it is served here; null: the event was a test */
    readonly code: string | null
    readonly version: string | null
    readonly files: number
    readonly bytes: number
  }
}

/** Takes one import in, from its body to the catalog. `receiving` wraps the part in which the body arrives. */
export async function takeIn(
  ctx: ControlContext,
  request: IncomingMessage,
  admitted: Admitted,
  receiving: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<TakenIn | Refusal> {
  const id = randomUUID()
  const folder = path.join(ctx.settings.dataDir, 'imports')
  await mkdir(folder, { recursive: true })
  await clearOldSpools(folder, ctx.now())
  const spool = path.join(folder, `.${id}${SPOOL_SUFFIX}`)
  try {
    const { importMaxBytes } = ctx.settings
    const received = await receiving(() => receiveParcel(request, spool, admitted, importMaxBytes))
    if (!received.ok) return received
    const parcel = readParcel(received.event)
    if (typeof parcel === 'string') return refuse('invalid_parameters', parcel)
    if (parcel.kind === 'test') {
      return { ok: true, result: { event: 'target.test', code: null, version: null, files: 0, bytes: 0 } }
    }
    const contents = await examineArchive(spool, (name) => slotOf(parcel, name), importMaxBytes)
    if (!contents.ok) return contents
    const landed = await landParcel(ctx, parcel, contents, spool, id)
    if (!landed.ok) return landed
    const { files, bytes } = contents
    const version = parcel.kind === 'basemap' ? parcel.version : null
    await audit(ctx, request, landed.code, { kind: parcel.kind, version, files, bytes })
    const event = parcel.kind === 'basemap' ? 'basemap.version.pushed' : 'vector.pushed'
    return { ok: true, result: { event, code: landed.code, version, files, bytes } }
  } finally {
    await rm(spool, { force: true })
  }
}

async function audit(ctx: ControlContext, request: IncomingMessage, subject: string, detail: Record<string, unknown>) {
  const address = request.socket.remoteAddress ?? ''
  await ctx.sql.begin((tx) => insertAudit(tx, { actor: 'import', address, action: 'import', subject, detail }))
}

const SPOOL_SUFFIX = '.spool.tmp'

/** Longer than any import takes: what is older was left by a crash. */
const SPOOL_LIFE_MS = 24 * 3_600_000

async function clearOldSpools(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(SPOOL_SUFFIX)) continue
    const spool = path.join(folder, name)
    const found = await stat(spool).catch(() => null)
    if (found !== null && now - found.mtimeMs > SPOOL_LIFE_MS) await rm(spool, { force: true })
  }
}
