import { type BodyOf, call } from './client.js'
import { listOf } from './list.js'
import { useWrite } from './use-write.js'

export const NOTIFICATION_RULES = listOf('notification-rules', '/api/v1/admin/notification-rules', {
  enabled: true,
  kind: true,
})
export const NOTIFICATIONS = listOf('notifications', '/api/v1/admin/notification-records', {
  status: true,
  acknowledged: true,
  before: true,
})

const CHANGES = { changes: ['notification-rules'] }

export function useSaveRule() {
  return useWrite(
    (body: BodyOf<'post', '/api/v1/admin/notification-rules'>) =>
      call('post', '/api/v1/admin/notification-rules', { body }),
    CHANGES,
  )
}

export function useDeleteRule(id: string) {
  return useWrite(() => call('delete', '/api/v1/admin/notification-rules/{id}', { params: { path: { id } } }), CHANGES)
}

export function useTestRule(id: string) {
  return useWrite(() => call('post', '/api/v1/admin/notification-rules/{id}/test', { params: { path: { id } } }), {
    changes: ['notifications'],
  })
}
