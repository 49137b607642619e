import { expect, test } from 'vitest'
import { en } from '../../texts/en.js'
import { createFormats } from '../../ui/format.js'
import { settingText } from './setting-text.js'

const text = (name: string, value: string | number | boolean | number[] | null, secret = false) =>
  settingText(
    { name, group: 'tokens', value, secret, is_set: value !== null || secret, is_default: false },
    en.settings,
    createFormats('en'),
  )

test('settings are shown in units that people read', () => {
  expect(text('TOKEN_DEFAULT_TTL', 2_592_000)).toBe('30 days')
  expect(text('RETRY_WAITS', [30, 60, 60])).toBe('30 seconds, 1 minute, 1 minute')
  expect(text('AUDIT_RETENTION_DAYS', 1)).toBe('1 day')
  expect(text('IMPORT_MAX_BYTES', 53_687_091_200)).toBe('53.7 GB')
  expect(text('API_PORT', 8080)).toBe('8080')
  expect(text('DEMO', true)).toBe('true')
})

test('a secret is never shown, and a missing value is shown as not set', () => {
  expect(text('ADMIN_PASSWORD', null, true)).toBe('set, not shown')
  expect(text('REDIS_URL', null)).toBe('not set')
  expect(text('BASEMAP_ROOTS', [])).toBe('empty')
})
