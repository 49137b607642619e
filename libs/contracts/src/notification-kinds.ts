/**
 * The kinds of items that operators can be notified of; the same as in the console's list of items that need attention. In a file without schemas,
 * because the console imports the values.
 */
export const NOTIFICATION_KINDS = [
  'push_failed',
  'slice_failed',
  'scan_failed',
  'export_failed',
  'unavailable',
  'token_expiring',
  'edge_gone',
] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]
