import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded, messageOfError, storedMessage } from '@gateway/contracts/messages.js'
import type { TargetTrial } from '@gateway/contracts/target.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import type { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readTargetWithSecret, type TargetWithSecret } from '@gateway/store/targets.js'
import type { Bundle } from '../../deliveries/files/bundle.js'
import { sendMessage, sendUpload } from '../../deliveries/http/send.js'
import { failure, type Outcome, success } from '../../deliveries/outcome.js'
import type { ControlContext } from '../../platform/context.js'
import type { AdminIdentity } from '../../platform/http/app-type.js'
import { webhookId } from '../../platform/webhooks/signature.js'

export interface Trial {
  readonly ok: true
  readonly trial: TargetTrial
}

/** Tests a target once, enabled or not, in the way of a push but without data. Leaves no record. */
export async function tryTarget(
  ctx: ControlContext,
  guard: DestinationGuard,
  code: string,
  admin: AdminIdentity,
): Promise<Trial | Refusal> {
  const target = await readTargetWithSecret(ctx.sql, code)
  if (target === null) return refuse('not_found', coded('target_not_found_for_this'))
  const startedAt = performance.now()
  const outcome = await tryOnce(ctx, guard, target)
  const { delivered, httpStatus, message, said, answer, request } = outcome
  await ctx.sql.begin((tx) =>
    insertAudit(tx, {
      ...admin,
      action: 'target.test',
      subject: code,
      detail: { name: target.name, delivered, message },
    }),
  )
  const duration = Math.round(performance.now() - startedAt)
  const trial = {
    delivered,
    status: httpStatus,
    ...storedMessage(message, said),
    answer,
    duration_ms: duration,
    request,
  }
  return { ok: true, trial }
}

function tryOnce(ctx: ControlContext, guard: DestinationGuard, target: TargetWithSecret): Promise<Outcome> {
  if (target.kind === 'directory') return tryDirectory(target.path ?? '')
  return target.kind === 'bucket' ? tryBucket(ctx, target.url ?? '') : tryHttp(ctx, guard, target)
}

/** Tests that an object can be written and removed. */
async function tryBucket({ settings, shutdown }: ControlContext, url: string): Promise<Outcome> {
  const store = openObjectStore(url, settings)
  const key = `.${randomUUID()}.tmp`
  try {
    await store.write(key, '/dev/null', { signal: shutdown })
    await store.remove(key)
    return success(coded('target_objects_writable'))
  } catch (error) {
    return failure(messageOfError(error))
  } finally {
    await store.close()
  }
}

function tryHttp(ctx: ControlContext, guard: DestinationGuard, target: TargetWithSecret): Promise<Outcome> {
  const now = ctx.now()
  const sending = {
    url: target.url ?? '',
    secret: target.secret,
    webhookId: webhookId(randomUUID()),
    now,
    event: {
      event: 'target.test',
      target: { code: target.code, name: target.name },
      delivered: new Date(now).toISOString(),
    },
  }
  return target.mode === 'upload'
    ? sendUpload(guard, sending, NO_FILES, ctx.shutdown)
    : sendMessage(guard, sending, ctx.shutdown)
}

const NO_FILES: Bundle = {
  root: '/',
  kind: 'files',
  place: 'test',
  code: 'test',
  compressible: false,
  files: async function* () {},
}

/** Tests that a file can be written, synced, renamed and removed. */
async function tryDirectory(directory: string): Promise<Outcome> {
  const file = path.join(directory, `.${randomUUID()}.tmp`)
  const renamed = path.join(directory, `.${randomUUID()}.tmp`)
  try {
    const handle = await open(file, 'wx')
    await handle.sync().finally(() => handle.close())
    await rename(file, renamed)
    return success(coded('target_files_writable'))
  } catch (error) {
    return failure(messageOfError(error))
  } finally {
    await rm(file, { force: true }).catch(() => {})
    await rm(renamed, { force: true }).catch(() => {})
  }
}
