import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded, sentence } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { deleteTarget, readTargets } from '@gateway/store/targets.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { audited } from './save.js'

const NO_SUCH_TARGET = refuse('not_found', coded('target_not_found'))

/** The result for a target: edges do not use targets, so no edge has to confirm. */
const FORGOTTEN = { files: 0, confirmed: [], pending: [] }

export function forgetTargetRoute(app: App, { sql }: ControlContext): void {
  app.delete(
    '/api/v1/admin/targets/:code',
    {
      schema: {
        operationId: 'deleteTarget',
        summary: 'Forget a target system',
        description:
          'Deletes the record of the target and its push records. Pending pushes are not sent. Nothing is deleted at the target.',
        params: z.object({ code: z.string().regex(/^[^\0]*$/, sentence('said.no_nul')) }),
        response: { 200: z.object({ ...acknowledgementFields, files: z.int().min(0) }) },
      },
    },
    async ({ params: { code }, admin }, reply) => {
      const [target] = await readTargets(sql, code)
      if (target === undefined) return sendRefusal(reply, NO_SUCH_TARGET)
      const detail = { name: target.name, kind: target.kind, before: audited(target) }
      const deleted = await sql.begin(async (tx) => {
        if (!(await deleteTarget(tx, code))) return false
        await insertAudit(tx, { ...admin, action: 'target.delete', subject: code, detail })
        return true
      })
      return deleted ? FORGOTTEN : sendRefusal(reply, NO_SUCH_TARGET)
    },
  )
}
