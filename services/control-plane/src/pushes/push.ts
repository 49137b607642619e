import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Target } from '@gateway/contracts/target.js'
import { insertAudit } from '@gateway/store/audit.js'
import { isOffered, readBasemap } from '@gateway/store/basemaps.js'
import { type Delivery, insertPush, type Lane, type NewPush } from '@gateway/store/deliveries.js'
import { readTargets } from '@gateway/store/targets.js'
import { readVector } from '@gateway/store/vectors.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { traceToKeep } from '../platform/trace.js'
import { toPushRecord, toVectorPushRecord } from './record.js'

export type Pushed<T> = { readonly ok: true; readonly record: T } | Refusal

export interface BasemapPush {
  readonly target_code: string
  readonly basemap_code: string
  /** a label, or `current` for the current default version */
  readonly version: string
}

/** Enqueues a push of a version to a target. An unknown object returns 404, and one that cannot be pushed now 400. */
export async function pushBasemap(
  ctx: ControlContext,
  body: BasemapPush,
  admin: AdminIdentity,
): Promise<Pushed<PushRecord>> {
  const target = await usableTarget(ctx, body.target_code)
  if (!target.ok) return target
  const basemap = await readBasemap(ctx.sql, body.basemap_code)
  if (basemap === null) return refuse('not_found', coded('basemap_not_found_for_this'))
  const label = body.version === CURRENT_VERSION ? basemap.defaultVersion : body.version
  const version = basemap.versions.find((one) => one.version === label)
  if (version === undefined) return refuse('not_found', coded('version_not_of_the_basemap'))
  if (!version.available) return refuse('invalid_parameters', coded('version_unavailable'))
  if (version.review) return refuse('invalid_parameters', coded('version_held'))
  if (version.withdrawn || !isOffered(basemap)) return refuse('invalid_parameters', coded('version_withdrawn'))
  const push = { kind: 'basemap_push', basemapCode: basemap.code, version: version.version } as const
  return { ok: true, record: toPushRecord(await enqueue(ctx, target.target, push, basemap.name, admin)) }
}

export async function pushVector(
  ctx: ControlContext,
  body: { readonly target_code: string; readonly vector_code: string },
  admin: AdminIdentity,
): Promise<Pushed<VectorPushRecord>> {
  const target = await usableTarget(ctx, body.target_code)
  if (!target.ok) return target
  const vector = await readVector(ctx.sql, body.vector_code)
  if (vector === null) return refuse('not_found', coded('vector_not_found_for_this'))
  if (!vector.available) return refuse('invalid_parameters', coded('vector_unavailable'))
  if (!isOffered(vector)) return refuse('invalid_parameters', coded('vector_withdrawn'))
  const push = { kind: 'vector_push', vectorCode: vector.code } as const
  const delivery = await enqueue(ctx, target.target, push, vector.name, admin)
  return { ok: true, record: toVectorPushRecord(delivery) }
}

async function usableTarget(
  ctx: ControlContext,
  code: string,
): Promise<{ readonly ok: true; readonly target: Target } | Refusal> {
  const [target] = await readTargets(ctx.sql, code)
  if (target === undefined) return refuse('not_found', coded('target_not_found_for_this'))
  if (target.kind === 'purge') return refuse('invalid_parameters', coded('target_takes_no_data'))
  return target.enabled ? { ok: true, target } : refuse('invalid_parameters', coded('target_disabled'))
}

/** `name`: the name of the pushed object */
async function enqueue(
  ctx: ControlContext,
  target: Target,
  push: NewPush,
  name: string,
  admin: AdminIdentity,
): Promise<Delivery> {
  const lane: Lane = target.mode === 'upload' ? 'transfer' : 'message'
  const detail =
    push.kind === 'basemap_push' ? { basemap: push.basemapCode, version: push.version } : { vector: push.vectorCode }
  const delivery = await ctx.sql.begin(async (tx) => {
    const inserted = await insertPush(tx, { code: target.code, lane }, push, traceToKeep())
    await insertAudit(tx, {
      ...admin,
      action: 'push.create',
      subject: inserted.id,
      detail: { name, target: target.code, ...detail },
    })
    return inserted
  })
  return delivery as Delivery
}
