import { toAdminBasemap, toAdminVersion } from '@gateway/catalog/basemap.js'
import { adminBasemapSchema, adminBasemapVersionSchema, withdrawBodySchema } from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, setBasemapWithdrawn, setVersionWithdrawn } from '@gateway/store/basemaps.js'
import type { NewChange } from '@gateway/store/change-log.js'
import type { Transaction } from '@gateway/store/connect.js'
import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import { commitAndConfirm } from '../../platform/edges/commit.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { byCode, byVersion, CONFIRMED, WITHDRAWN } from './route-parts.js'

const WITHDRAW = `${WITHDRAWN} ${CONFIRMED}`

interface Request {
  readonly body: z.output<typeof withdrawBodySchema>
  readonly admin: AdminIdentity
}

/** Something that can be withdrawn and restored. */
interface Item<T> {
  readonly kind: 'basemap' | 'version'
  readonly change: NewChange
  /** for the audit: the name of the basemap, and which version */
  readonly detail: (tx: Transaction) => Promise<Record<string, unknown>>
  /** false: it does not exist */
  set(tx: Transaction, withdrawn: boolean): Promise<boolean>
  /** the item as it is answered */
  read(tx: Transaction): Promise<T | null>
}

/** Withdraws basemaps and versions from their readers, and restores them. */
export function withdrawRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  async function withdraw<T>({ body: { withdrawn }, admin }: Request, reply: FastifyReply, item: Item<T>) {
    const { kind, change } = item
    const { result, ...acknowledged } = await commitAndConfirm(ctx, edges, async (tx) => {
      if (!(await item.set(tx, withdrawn))) return { result: null, changes: [] }
      const action = `${kind}.${withdrawn ? 'withdraw' : 'restore'}`
      await insertAudit(tx, { ...admin, action, subject: change.key, detail: await item.detail(tx) })
      return { result: await item.read(tx), changes: [change] }
    })
    if (result === null) return sendRefusal(reply, refuse('not_found', `no such ${kind}`))
    return { ...result, ...acknowledged }
  }

  app.patch(
    '/api/v1/admin/basemaps/:code',
    withdrawal('setBasemapWithdrawn', 'Withdraw or restore a basemap', WITHDRAW, byCode, adminBasemapSchema),
    (request, reply) => {
      const { code } = request.params
      return withdraw(request, reply, {
        kind: 'basemap',
        change: { kind: 'basemap', key: code },
        detail: async (tx) => ({ name: await nameOf(tx, code) }),
        set: (tx, withdrawn) => setBasemapWithdrawn(tx, code, withdrawn),
        read: async (tx) => mapped(await readBasemap(tx, code), toAdminBasemap),
      })
    },
  )
  app.patch(
    '/api/v1/admin/basemaps/:code/versions/:version',
    withdrawal(
      'setVersionWithdrawn',
      'Withdraw or restore a version of a basemap',
      `${WITHDRAW} While the default version is withdrawn, \`current\` means the highest version that is available and not withdrawn.`,
      byVersion,
      adminBasemapVersionSchema,
    ),
    (request, reply) => {
      const { code, version } = request.params
      return withdraw(request, reply, {
        kind: 'version',
        change: { kind: 'basemap', key: code },
        detail: async (tx) => ({ name: await nameOf(tx, code), version }),
        set: (tx, withdrawn) => setVersionWithdrawn(tx, code, version, withdrawn),
        read: async (tx) => {
          const versions = (await readBasemap(tx, code))?.versions
          return mapped(versions?.find((one) => one.version === version) ?? null, toAdminVersion)
        },
      })
    },
  )
}

async function nameOf(tx: Transaction, code: string): Promise<string> {
  return (await readBasemap(tx, code))?.name ?? code
}

function withdrawal<P extends z.ZodObject, A extends z.ZodObject>(
  operationId: string,
  summary: string,
  description: string,
  params: P,
  answer: A,
) {
  const response = { 200: answer.extend(acknowledgementFields) }
  return {
    config: { mayTakeLong: true },
    schema: { operationId, summary, description, params, body: withdrawBodySchema, response },
  }
}

function mapped<A, B>(value: A | null, map: (value: A) => B): B | null {
  return value === null ? null : map(value)
}
