import { loadSettings } from '@gateway/settings/load.js'
import { expect, test } from 'vitest'
import { viewSettings } from './settings-view.js'

test('secrets are told to be set, and nothing more', () => {
  const secrets = {
    ADMIN_PASSWORD: 'secret-one',
    ADMIN_TOKEN: 'secret-two',
    DATABASE_URL: 'postgres://user:secret-three@db/x',
    REDIS_URL: 'redis://:secret-four@cache',
  }
  const view = viewSettings(loadSettings({ CONFIG_FILE: '/nonexistent', ...secrets }))
  expect(JSON.stringify(view)).not.toMatch(/secret-|@db|@cache/)
  for (const name of Object.keys(secrets)) {
    expect(view).toContainEqual({ name, value: null, secret: true, is_set: true })
  }
  expect(view).toContainEqual({ name: 'API_PORT', value: 8910, secret: false, is_set: true })
  expect(view).toContainEqual({ name: 'TILER_COMMAND', value: null, secret: false, is_set: false })
})
