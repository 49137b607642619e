import { loadSettings } from '@gateway/core/settings/load.js'
import { expect, test } from 'vitest'
import { viewSettings } from './settings-view.js'

test('secrets are only shown as set', () => {
  const secrets = {
    ADMIN_PASSWORD: 'secret-one',
    ADMIN_TOKEN: 'secret-two',
    DATABASE_URL: 'postgres://user:secret-three@db/x',
    REDIS_URL: 'redis://:secret-four@cache',
    OIDC_CLIENT_SECRET: 'secret-five',
  }
  const view = viewSettings(loadSettings({ CONFIG_FILE: '/nonexistent', ...secrets }))
  expect(JSON.stringify(view)).not.toMatch(/secret-|@db|@cache/)
  for (const name of Object.keys(secrets)) {
    expect(view).toContainEqual(
      expect.objectContaining({ name, value: null, secret: true, is_set: true, is_default: false }),
    )
  }
  expect(view).toContainEqual({
    name: 'API_PORT',
    group: 'addresses',
    value: 8910,
    secret: false,
    is_set: true,
    is_default: true,
  })
  expect(view).toContainEqual({
    name: 'TILER_COMMAND',
    group: 'slicing',
    value: null,
    secret: false,
    is_set: false,
    is_default: true,
  })
})

test('changed values are not marked as defaults', () => {
  const view = viewSettings(loadSettings({ CONFIG_FILE: '/nonexistent', API_PORT: '8911', LOG_LEVEL: 'info' }))
  const isDefault = (name: string) => view.find((setting) => setting.name === name)?.is_default
  // URLs follow the port.
  expect(['API_PORT', 'API_BASE_URL', 'LOG_LEVEL'].map(isDefault)).toEqual([false, false, true])
})

test('a list of roles is shown as written', () => {
  const signIn = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'gateway', OIDC_ROLES: 'viewer=*,admin=gis' }
  const view = viewSettings(loadSettings({ CONFIG_FILE: '/nonexistent', ...signIn }))
  expect(view.find(({ name }) => name === 'OIDC_ROLES')?.value).toEqual(['viewer=*', 'admin=gis'])
})
