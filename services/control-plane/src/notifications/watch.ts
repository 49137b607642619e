import { setTimeout as sleep } from 'node:timers/promises'
import { NOTIFICATION_KINDS, type NotificationKind } from '@gateway/contracts/without-schemas.js'
import { type AttentionItem, enabledRules, insertNotification, takeNews } from '@gateway/store/notifications.js'
import type { PayloadBuilder } from '../deliveries/payload.js'
import type { BackgroundLoop } from '../platform/background.js'
import type { ControlContext } from '../platform/context.js'

/** Maximum delay before a new item is reported. */
const LOOK_EVERY_MS = 10_000
/** Maximum number of items that one message names; it counts the others. */
const MAX_NAMED = 50

/** Subjects of messages, which are sent in English only. */
const SUBJECTS: Readonly<Record<NotificationKind, (n: number) => string>> = {
  push_failed: (n) => `${n} ${n === 1 ? 'push has' : 'pushes have'} failed`,
  slice_failed: (n) => `${n} slicing ${n === 1 ? 'job has' : 'jobs have'} failed`,
  scan_failed: (n) => `${n} ${n === 1 ? 'scan has' : 'scans have'} failed`,
  export_failed: (n) => `${n} ${n === 1 ? 'export has' : 'exports have'} failed`,
  unavailable: (n) => `${n} ${n === 1 ? 'map is' : 'maps are'} no longer available`,
  token_expiring: (n) => `${n} ${n === 1 ? 'token expires' : 'tokens expire'} soon`,
  edge_gone: (n) => `${n} edge ${n === 1 ? 'process has' : 'processes have'} stopped responding`,
}

/** Reports new items that need attention to those who have a rule. Every control plane looks, and the first to note an item reports it. */
export const notifications: BackgroundLoop = {
  name: 'notifications',
  async run(ctx) {
    while (!ctx.shutdown.aborted) {
      await tellNews(ctx).catch((error: Error) =>
        ctx.log.warn({ err: error.message }, 'what needs attention cannot be told now'),
      )
      await sleep(LOOK_EVERY_MS, undefined, { signal: ctx.shutdown, ref: false }).catch(() => {})
    }
  },
}

export async function tellNews({ sql, settings }: Pick<ControlContext, 'sql' | 'settings'>): Promise<void> {
  const rules = await enabledRules(sql)
  if (rules.length === 0) return
  const kinds = NOTIFICATION_KINDS.filter((kind) => rules.some((rule) => rule.kinds.includes(kind)))
  await sql.begin(async (tx) => {
    const news = await takeNews(tx, kinds)
    for (const kind of new Set(news.map((item) => item.kind))) {
      const items = news.filter((item) => item.kind === kind)
      for (const to of rules.filter((rule) => rule.kinds.includes(kind))) {
        await insertNotification(tx, { to, body: messageOf(kind, items, settings.apiBaseUrl) })
      }
    }
  })
}

export function messageOf(kind: NotificationKind | 'test', items: readonly AttentionItem[], baseUrl: string) {
  return {
    event: `attention.${kind}`,
    subject: kind === 'test' ? 'Test of notifications' : SUBJECTS[kind](items.length),
    count: items.length,
    items: items.slice(0, MAX_NAMED).map(({ name, message }) => ({ name, message })),
    console_url: `${baseUrl}/admin/`,
  }
}

export const notificationPayload: PayloadBuilder = async ({ now }, { body }) => ({
  ok: true,
  event: { ...body, delivered: new Date(now()).toISOString() },
  bundle: null,
})
