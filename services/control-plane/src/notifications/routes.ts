import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  type NotificationRule,
  notificationRuleBodySchema,
  notificationRuleSchema,
} from '@gateway/contracts/notification.js'
import { type NotificationRecord, notificationRecordSchema } from '@gateway/contracts/push.js'
import { NOTIFICATION_KINDS } from '@gateway/contracts/without-schemas.js'
import { insertAudit } from '@gateway/store/audit.js'
import { flag, listQuery } from '@gateway/store/catalog/list-query.js'
import type { Delivery } from '@gateway/store/deliveries.js'
import {
  deleteRule,
  insertNotification,
  listRules,
  RULES_LISTING,
  readRule,
  type StoredRule,
  saveRule,
} from '@gateway/store/notifications.js'
import { readTargets } from '@gateway/store/targets.js'
import { z } from 'zod'
import { deliveryFields, recordRoutes } from '../deliveries/records.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { isUuid } from '../platform/http/input-validation.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { messageOf } from './watch.js'

const NO_SUCH_RULE = refuse('not_found', coded('notification_rule_not_found'))
const NO_WEBHOOK = refuse('invalid_parameters', coded('notification_no_webhook'))
const PATH = '/api/v1/admin/notification-rules'
const params = z.object({ id: z.string() })

export function notificationRoutes(app: App, ctx: ControlContext): void {
  const { sql } = ctx
  app.get(
    PATH,
    {
      schema: {
        operationId: 'listNotificationRules',
        summary: 'List the rules of notifications',
        description:
          'A rule sends notifications by e-mail, or by a message to a target of kind `http`. `notification-records` lists what each recipient ' +
          'has been sent.',
        querystring: listQuery(RULES_LISTING, { enabled: flag, kind: z.enum(NOTIFICATION_KINDS) }),
        response: { 200: listOf(notificationRuleSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listRules(sql, query)
      return { items: items.map(ruleOf), total }
    },
  )
  app.post(
    PATH,
    {
      schema: {
        operationId: 'saveNotificationRule',
        summary: 'Create or replace a rule of notifications',
        description:
          'A rule notifies by `email` (needs SMTP_URL and SMTP_FROM), or by `target_code`. The gateway looks for items every 10 s and groups ' +
          'them by kind. Each item is reported once, from the moment at which a rule names its kind. With `id`, the rule is replaced.',
        body: notificationRuleBodySchema,
        response: { 200: notificationRuleSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const { id = null, email = null, target_code: targetCode = null, kinds, enabled } = body
      if (targetCode !== null && (await readTargets(sql, targetCode))[0]?.kind !== 'http')
        return sendRefusal(reply, NO_WEBHOOK)
      const saved = await sql.begin(async (tx) => {
        const before = id === null ? null : await readRule(tx, id)
        const after = await saveRule(tx, { id, email, targetCode, kinds, enabled })
        if (after === null) return null
        const detail = { ...(before !== null && { before: shown(before) }), after: shown(after) }
        const action = before === null ? 'notification-rule.create' : 'notification-rule.update'
        await insertAudit(tx, { ...admin, action, subject: after.id, detail })
        return after
      })
      return saved === null ? sendRefusal(reply, NO_SUCH_RULE) : ruleOf(saved)
    },
  )
  app.delete(
    `${PATH}/:id`,
    {
      schema: {
        operationId: 'deleteNotificationRule',
        summary: 'Remove a rule of notifications',
        description: 'The list of records keeps the notifications that were sent.',
        params,
        response: { 200: notificationRuleSchema },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      const deleted = await sql.begin(async (tx) => {
        const rule = isUuid(id) ? await readRule(tx, id) : null
        if (rule === null || !(await deleteRule(tx, id))) return null
        const detail = { before: shown(rule) }
        await insertAudit(tx, { ...admin, action: 'notification-rule.delete', subject: id, detail })
        return rule
      })
      return deleted === null ? sendRefusal(reply, NO_SUCH_RULE) : ruleOf(deleted)
    },
  )
  app.post(
    `${PATH}/:id/test`,
    {
      schema: {
        operationId: 'testNotificationRule',
        summary: 'Send a test notification by a rule',
        description: 'Sent like any notification; its record shows the result.',
        params,
        response: { 202: notificationRecordSchema },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      const rule = isUuid(id) ? await readRule(sql, id) : null
      if (rule === null) return sendRefusal(reply, NO_SUCH_RULE)
      const record = await sql.begin(async (tx) => {
        await insertAudit(tx, { ...admin, action: 'notification-rule.test', subject: id, detail: {} })
        return insertNotification(tx, { to: rule, body: messageOf('test', [], ctx.settings.apiBaseUrl) })
      })
      return reply.code(202).send(toNotificationRecord(record))
    },
  )
  recordRoutes(app, ctx, {
    kind: 'notification',
    path: 'notification-records',
    name: 'Notification',
    noun: 'notifications',
    kept: 'Kept for 30 days, and the newest thousand for longer.',
    schema: notificationRecordSchema,
    toRecord: toNotificationRecord,
    filters: {},
  })
}

function shown({ email, targetCode, kinds, enabled }: StoredRule) {
  return { email, target_code: targetCode, kinds: [...kinds], enabled }
}

function ruleOf(rule: StoredRule): NotificationRule {
  return { id: rule.id, ...shown(rule), created_at: rule.createdAt.toISOString() }
}

const BEFORE_ADDRESS = 'mailto:'

function toNotificationRecord(delivery: Delivery): NotificationRecord {
  const { targetCode, url, event, subject } = delivery
  return {
    ...deliveryFields(delivery),
    target_code: targetCode,
    email: url?.startsWith(BEFORE_ADDRESS) ? url.slice(BEFORE_ADDRESS.length) : null,
    event: event ?? '',
    subject: subject ?? '',
  }
}
