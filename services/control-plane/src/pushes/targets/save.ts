import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded, saidOf } from '@gateway/contracts/messages.js'
import type { Target, TargetBody } from '@gateway/contracts/target.js'
import { normalLocation, parseLocation } from '@gateway/core/object-storage/location.js'
import type { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { insertAudit } from '@gateway/store/audit.js'
import { type NewTarget, readTargetWithSecret, upsertTarget } from '@gateway/store/targets.js'
import { withoutSecrets } from '../../deliveries/http/texts.js'
import { differences } from '../../platform/audit/differences.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish } from '../../platform/edges/commit.js'
import type { AdminIdentity } from '../../platform/http/app-type.js'
import { CODE_EXISTS } from '../../platform/http/creates-only.js'
import { signingKey, standardSecret } from '../../platform/webhooks/signature.js'

export type Saved = { readonly ok: true; readonly target: Target } | Refusal

/** Default modes by kind: directories and buckets usually receive files. */
const DEFAULT_MODE = { http: 'notify', directory: 'upload', bucket: 'upload', purge: 'notify' } as const

/** Creates or updates a target. Its secret is stored only in its row: the audit entry records only that it changed. */
export async function saveTarget(
  ctx: ControlContext,
  guard: DestinationGuard,
  body: TargetBody,
  admin: AdminIdentity,
  createsOnly = false,
): Promise<Saved> {
  const problem = problemOf(body, guard)
  if (problem !== null) return refuse('invalid_parameters', problem)
  const { result } = await commitAndPublish(ctx, async (tx) => {
    const known = await readTargetWithSecret(tx, body.code)
    const saved: NewTarget = {
      code: body.code,
      kind: body.kind,
      url: placeOf(body),
      path: body.kind === 'directory' ? (body.path ?? null) : null,
      mode: body.mode ?? (known?.kind === body.kind ? known.mode : DEFAULT_MODE[body.kind]),
      name: body.name,
      enabled: body.enabled,
      // Stored files are not signed, since no receiver verifies them.
      secret:
        body.kind === 'directory' || body.kind === 'bucket' || body.secret === ''
          ? null
          : body.secret && standardSecret(body.secret),
    }
    const target = await upsertTarget(tx, saved, createsOnly)
    if (target === null) return { result: null, changes: [] }
    const detail = {
      name: target.name,
      ...differences(known === null ? null : audited(known), audited(target)),
      secret: body.secret === undefined ? 'kept' : 'changed',
    }
    const action = known === null ? 'target.create' : 'target.update'
    await insertAudit(tx, { ...admin, action, subject: target.code, detail })
    return { result: target, changes: [] }
  })
  return result === null ? CODE_EXISTS : { ok: true, target: result }
}

/** Returns the audited fields. Every operator reads the audit log, so the URL has no query, in which receivers often expect a key. */
export function audited({ name, kind, url, path, mode, enabled }: Omit<Target, 'has_secret'>) {
  return { name, kind, url: url && withoutSecrets(url), path, mode, enabled }
}

function placeOf({ kind, url }: TargetBody): string | null {
  if (kind === 'directory' || url === undefined) return null
  return kind === 'bucket' ? normalLocation(url) : url
}

function problemOf(body: TargetBody, guard: DestinationGuard): CodedMessage | null {
  if (body.kind === 'directory') {
    if (!body.path) return coded('target_needs_path')
    if (body.url) return coded('target_url_not_taken')
    return body.secret ? coded('target_secret_not_taken') : null
  }
  if (!body.url) return coded('target_needs_url', { kind: body.kind })
  if (body.path) return coded('target_path_not_taken')
  if (body.kind === 'bucket') {
    const location = parseLocation(body.url)
    if (typeof location === 'string') return saidOf('body.url', location)
    if (location.kind !== 's3') return coded('target_url_not_bucket')
    return body.secret ? coded('target_secret_not_taken') : null
  }
  if (body.kind === 'purge' && body.mode === 'upload') return coded('target_purge_takes_messages')
  const refused = guard.problemOf(body.url)
  if (refused !== null) return saidOf('body.url', refused)
  return body.secret && signingKey(body.secret) === null ? coded('target_secret_not_base64') : null
}
