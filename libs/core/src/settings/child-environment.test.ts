import { spawnSync } from 'node:child_process'
import { afterEach, expect, test, vi } from 'vitest'
import { edgeEnvironment } from './child-environment.js'
import { loadSettings } from './load.js'

afterEach(() => vi.unstubAllEnvs())

const READ = `process.stdout.write(require('fs').readFileSync('/proc/self/environ', 'utf8'))`

test('an edge process has no secret of the control plane in its environment, and starts without them', () => {
  const secrets = {
    ADMIN_PASSWORD: 'secret-1',
    ADMIN_TOKEN: 'secret-2',
    OIDC_CLIENT_SECRET: 'secret-3',
    IMPORT_TOKEN: 'secret-4',
  }
  for (const [name, value] of Object.entries(secrets)) vi.stubEnv(name, value)
  vi.stubEnv('SMTP_URL', 'smtp://user:secret-5@mail')
  vi.stubEnv('ADMIN_TOKEN_FILE', '/run/secret-6')
  vi.stubEnv('ADMIN_ALLOW_REMOTE', 'true')
  vi.stubEnv('DATABASE_URL', 'postgres://gateway:needed@store/gateway')
  const env = edgeEnvironment({ ADDED: 'yes' })
  const { stdout } = spawnSync(process.execPath, ['-e', READ], { env, encoding: 'utf8' })
  expect(stdout).not.toContain('secret-')
  expect(stdout).toContain('ADDED=yes')
  expect(stdout).toContain('needed@store')
  const remote = { ADMIN_ALLOW_REMOTE: env.ADMIN_ALLOW_REMOTE, API_HOST: '0.0.0.0', CONFIG_FILE: '/nonexistent' }
  expect(loadSettings({ ...remote, DATA_DIR: '/tmp' }).adminAllowRemote).toBe(false)
})
