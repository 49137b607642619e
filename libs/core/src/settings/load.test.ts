import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensureAdminCredentials } from './admin-credentials.js'
import { controlPlaneUrl, loadSettings } from './load.js'
import { usableMemory } from './usable-memory.js'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'settings-'))
  file = join(directory, 'service.env')
})
afterEach(() => rmSync(directory, { recursive: true }))

const load = (env: Record<string, string> = {}) => loadSettings({ CONFIG_FILE: file, ...env })

test('layers are created below DATA_DIR if they are published into a bucket', () => {
  expect(load({ SLICE_OUTPUT_ROOT: 's3://maps/layers/', DATA_DIR: '/data' })).toMatchObject({
    sliceOutputRoot: 's3://maps/layers',
    sliceWorkRoot: '/data/slice-work',
  })
  expect(load({ SLICE_OUTPUT_ROOT: '/srv/layers' })).toMatchObject({ sliceWorkRoot: '/srv/layers' })
  expect(load({ SLICE_SOURCE_ROOTS: '/srv/images/,s3://images' }).sliceSourceRoots).toEqual([
    '/srv/images',
    's3://images',
  ])
  for (const wrong of ['https://maps/layers', 's3://', 's3://maps/../x'])
    expect(() => load({ SLICE_OUTPUT_ROOT: wrong })).toThrow('SLICE_OUTPUT_ROOT must be a path, or s3://bucket/prefix')
})

test('without any setting, the documented defaults apply', () => {
  const settings = load()
  expect(settings).toMatchObject({
    apiHost: '127.0.0.1',
    apiPort: 8910,
    controlPort: 8911,
    apiBaseUrl: 'http://127.0.0.1:8910',
    tilePublicBaseUrl: 'http://127.0.0.1:8910',
    tokenDefaultTtlSeconds: 30 * 86_400,
    tokenStaleSeconds: 5,
    retryWaitsSeconds: [30, 60, 60],
    adminAllowRemote: false,
  })
})

test('the environment overrides the env file, and the env file the defaults', () => {
  writeFileSync(file, 'API_PORT=9000\nCONTROL_PORT=9001\n')
  expect(load({ API_PORT: '9100' })).toMatchObject({ apiPort: 9100, controlPort: 9001 })
})

test('an empty value counts as unset', () => {
  expect(load({ API_PORT: '' }).apiPort).toBe(8910)
})

test.each([
  ['3600', 3600],
  ['90s', 90],
  ['5m', 300],
  ['12h', 43_200],
  ['1.5h', 5400],
  ['30d', 2_592_000],
])('TOKEN_DEFAULT_TTL takes %s', (text, seconds) => {
  expect(load({ TOKEN_DEFAULT_TTL: text }).tokenDefaultTtlSeconds).toBe(seconds)
})

test.each([
  ['1000', 1000],
  ['64k', 65_536],
  ['20G', 21_474_836_480],
])('IMPORT_MAX_BYTES takes %s', (text, bytes) => {
  expect(load({ IMPORT_MAX_BYTES: text }).importMaxBytes).toBe(bytes)
})

test('TILE_MEMORY is a tenth of the memory that the process may use, unless it is set', () => {
  expect(load({}).tileMemoryBytes).toBe(Math.floor(usableMemory() / 10))
  expect(load({ TILE_MEMORY: '512M' }).tileMemoryBytes).toBe(2 ** 29)
})

test.each([
  ['API_PORT', '0'],
  ['API_PORT', '70000'],
  ['API_PORT', 'tcp://10.0.0.1:80'],
  ['TOKEN_DEFAULT_TTL', '3 days'],
  ['TOKEN_DEFAULT_TTL', '0'],
  ['TOKEN_DEFAULT_TTL', '1.5'],
  ['EDGE_WORKERS', '0'],
  ['ADMIN_ALLOW_REMOTE', 'maybe'],
  ['TILE_PUBLIC_BASE_URL', 'ftp://x'],
  ['API_BASE_URL', 'maps.example.org'],
  ['API_BASE_URL', 'no address'],
  ['ADMIN_HOSTS', 'https://maps.example.org/'],
  ['BASEMAP_ROOTS', 'relative/dir'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['RETRY_WAITS', '30,,x'],
  ['DATABASE_URL', 'mysql://x'],
  ['DATABASE_URL', 'postgres://a:1,b:2/x'],
  ['DATABASE_URL', 'postgres://a:1,b:port/x?target_session_attrs=read-write'],
  ['REDIS_URL', 'http://x'],
  ['REDIS_URL', 'redis://a:1,b:2'],
  ['REDIS_URL', 'redis+sentinel://a:1'],
  ['REDIS_URL', 'redis+cluster://a:1,b/2'],
  ['ACCESS_LOG_EVERY', '-1'],
  ['IMPORT_TOKEN', 'short'],
  ['TILE_CACHE_CONTROL', 'private\r\nSet-Cookie: a=b'],
  ['CURRENT_CACHE_CONTROL', 'größer'],
  ['IMPORT_MAX_BYTES', '1.5g'],
  ['TILE_MEMORY', '512MB'],
  ['TILE_MEMORY', '1023k'],
  ['VECTOR_BUILD_MEMORY', '255m'],
  ['LOG_LEVEL', 'loud'],
  ['API_HOST', '127.0.0.1:80'],
  ['API_BASE_URL', 'http://maps.example.org/#'],
  ['API_BASE_URL', 'http://maps.example.org/?'],
  ['API_BASE_URL', ' http://maps.example.org'],
  ['API_BASE_URL', 'http:maps.example.org'],
  ['ADMIN_USER', 'map:admin'],
  ['ADMIN_TOKEN', 'größer'],
  ['ADMIN_TOKEN', ' '],
  ['DATA_DIR', 's3://bucket/data'],
  ['TRUSTED_PROXIES', '10/8'],
  ['TRUSTED_PROXIES', '10'],
  ['CALLBACK_DENY', '10/8'],
  ['CALLBACK_DENY', '10.0'],
  ['TOKEN_DEFAULT_TTL', '999999999d'],
  ['MISSING_TILE_TTL', '36501d'],
  ['DRAIN_SECONDS', '999999999'],
  ['OIDC_ROLES', 'admin=gis-admins'],
])('a malformed %s (%s) is refused in one line that names it', (name, value) => {
  expect(() => load({ [name]: value })).toThrow(new RegExp(`^${name}[^\\n]*$`))
})

test.each([
  ['DATABASE_URL', 'postgres://u:p@db.example/x?sslmode=verify-full'],
  ['DATABASE_URL', 'postgresql://u:p@a.example:1,[::1]:2/x?target_session_attrs=primary'],
  ['REDIS_URL', 'rediss://:p@cache.example:6380/1'],
  ['REDIS_URL', 'redis+sentinel://u:p@a:1,b/main/2'],
  ['REDIS_URL', 'rediss+cluster://u:p@a:1,b'],
])('%s may be %s', (name, value) => {
  const settings = load({ [name]: value })
  expect(name === 'DATABASE_URL' ? settings.databaseUrl : settings.redisUrl).toBe(value)
})

test.each(['API_PORT 9000', 'API_PORT', '  export API_PORT', 'API_PORT\t# later'])(
  'the line %j is refused by name',
  (line) => {
    writeFileSync(file, `# settings\nLOG_LEVEL=info\n${line}\n`)
    expect(() => load()).toThrow(/^API_PORT in \S+ has no value: write API_PORT=\.\.\.$/)
  },
)

test('comments, plain text and every form of an assignment pass', () => {
  writeFileSync(
    file,
    '#API_PORT 1\nby hand\n export LOG_LEVEL = warn\nAPI_PORT: 9000\nCONTROL_PORT=\nADMIN_USER="a b"\n',
  )
  expect(load()).toMatchObject({ logLevel: 'warn', apiPort: 9000, controlPort: 8911, adminUser: 'a b' })
})

test('an unknown setting in the env file is refused by name', () => {
  writeFileSync(file, 'API_PROT=9000\n')
  expect(() => load()).toThrow(/API_PROT in .* is not a setting; did you mean API_PORT\?/)
})

test('a misspelt setting in the environment is refused, other variables are ignored', () => {
  expect(() => load({ EDGE_WORKER: '2' })).toThrow(/EDGE_WORKER in the environment.*EDGE_WORKERS/)
  expect(() => load({ PATH: '/bin', NODE_ENV: 'test', PGHOST: 'x' })).not.toThrow()
})

test('a secret is read from the file of its _FILE setting, in the environment or in the env file', () => {
  const secret = (content: string) => {
    const path = join(directory, `secret-${content.length}`)
    writeFileSync(path, content)
    return path
  }
  writeFileSync(file, `ADMIN_PASSWORD_FILE=${secret('with blanks \n\n')}\nADMIN_TOKEN=of-the-file\n`)
  const settings = load({
    DATABASE_URL_FILE: secret('postgres://u:p@db/x\r\n'),
    ADMIN_TOKEN_FILE: secret('of-the-environment'),
  })
  expect(settings).toMatchObject({
    databaseUrl: 'postgres://u:p@db/x',
    adminPassword: 'with blanks ',
    adminToken: 'of-the-environment',
  })
})

test.each([
  ['absent', (path: string) => rmSync(path)],
  ['empty', (path: string) => writeFileSync(path, '\n')],
  ['too large', (path: string) => writeFileSync(path, 'x'.repeat(65_537))],
  ['malformed', (path: string) => writeFileSync(path, 'secret-but-no-address')],
])('a secret whose file is %s is refused in one line that does not show it', (_, change) => {
  const path = join(directory, 'secret')
  writeFileSync(path, 'x')
  change(path)
  expect(() => load({ DATABASE_URL_FILE: path })).toThrow(/^DATABASE_URL(?!.*(?:secret-but|xxx))[^\n]*$/)
})

test('a secret that is set twice in one place is refused, and no other setting is read from a file', () => {
  const path = join(directory, 'secret')
  writeFileSync(path, 'x')
  expect(() => load({ ADMIN_TOKEN: 'x', ADMIN_TOKEN_FILE: path })).toThrow(/^ADMIN_TOKEN and ADMIN_TOKEN_FILE are both/)
  expect(() => load({ ADMIN_TOKN_FILE: path })).toThrow(/did you mean ADMIN_TOKEN_FILE\?/)
  writeFileSync(file, `API_PORT_FILE=${path}\n`)
  expect(() => load()).toThrow(/API_PORT_FILE in .* is not a setting/)
})

test('half a TLS pair is refused, and a complete pair makes the default URL https', () => {
  expect(() => load({ TLS_CERT_FILE: 'c.pem' })).toThrow(/^TLS_CERT_FILE is set and TLS_KEY_FILE is not[^\n]*$/)
  expect(() => load({ TLS_KEY_FILE: 'k.pem' })).toThrow(/^TLS_KEY_FILE is set and TLS_CERT_FILE is not[^\n]*$/)
  expect(load({ TLS_CERT_FILE: 'c.pem', TLS_KEY_FILE: 'k.pem' }).apiBaseUrl).toBe('https://127.0.0.1:8910')
})

test('remote administration without credentials does not start on a non-loopback address', () => {
  const open = { API_HOST: '0.0.0.0', ADMIN_ALLOW_REMOTE: 'true' }
  expect(() => load(open)).toThrow(/^ADMIN_ALLOW_REMOTE[^\n]*$/)
  expect(() => load({ ...open, ADMIN_TOKEN: 'x' })).not.toThrow()
  expect(() => load({ ...open, ADMIN_PASSWORD: 'x' })).not.toThrow()
  expect(() => load({ API_HOST: '0.0.0.0' })).not.toThrow()
  expect(() => load({ ADMIN_ALLOW_REMOTE: 'true' })).not.toThrow()
  expect(() => load({ CONTROL_HOST: '::', ADMIN_ALLOW_REMOTE: 'true' })).toThrow(/CONTROL_HOST/)
})

test('the first start writes admin credentials that only the owner can read, and the second start reads them', () => {
  writeFileSync(file, 'API_PORT=9000')
  const first = ensureAdminCredentials(load())
  expect(first.outcome).toEqual({ state: 'written', path: file })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toMatch(/^API_PORT=9000\n/)
  const second = load()
  expect(second).toMatchObject({
    apiPort: 9000,
    adminPassword: first.settings.adminPassword,
    adminToken: first.settings.adminToken,
  })
  expect(ensureAdminCredentials(second).outcome).toEqual({ state: 'configured' })
})

test('no credential is generated if the env file cannot be written', () => {
  writeFileSync(file, '')
  const { settings, outcome } = ensureAdminCredentials({ ...load(), configFile: join(file, 'below-a-file', 'x.env') })
  expect(outcome.state).toBe('unwritable')
  expect(settings.adminPassword).toBeNull()
})

test('the control plane is reached on loopback if it listens on all addresses', () => {
  expect(controlPlaneUrl(load({ CONTROL_HOST: '0.0.0.0' }))).toBe('http://127.0.0.1:8911')
  expect(controlPlaneUrl(load({ CONTROL_HOST: 'control-plane' }))).toBe('http://control-plane:8911')
})

const SIGN_IN = {
  OIDC_ISSUER: 'https://id.example.com/realms/maps/',
  OIDC_CLIENT_ID: 'gateway',
  OIDC_ROLES: 'viewer=*, admin = gis admins ,admin=a=b',
}

test('sign-in by OpenID Connect keeps the issuer unchanged, and maps values of a claim to roles', () => {
  expect(load(SIGN_IN)).toMatchObject({
    oidcIssuer: 'https://id.example.com/realms/maps/',
    oidcClientSecret: null,
    oidcRoleClaim: 'groups',
    oidcRoles: [
      { role: 'viewer', value: '*' },
      { role: 'admin', value: 'gis admins' },
      { role: 'admin', value: 'a=b' },
    ],
    sessionTtlSeconds: 12 * 3600,
    sessionIdleSeconds: 2 * 3600,
  })
})

test.each([
  [{ OIDC_ISSUER: 'http://id.example.com' }, /^OIDC_ISSUER must be the https address/],
  [{ OIDC_ISSUER: 'https://id.example.com/?x=1' }, /^OIDC_ISSUER must be/],
  [{ OIDC_CLIENT_ID: '' }, /^OIDC_ISSUER needs OIDC_CLIENT_ID/],
  [{ OIDC_ISSUER: '' }, /^OIDC_CLIENT_ID is set without OIDC_ISSUER/],
  [{ OIDC_ROLES: '' }, /^OIDC_ISSUER needs OIDC_ROLES/],
  [{ OIDC_ROLES: 'owner=x' }, /^OIDC_ROLES must list roles/],
  [{ OIDC_ROLES: 'admin=' }, /^OIDC_ROLES must list roles/],
  [{ SESSION_IDLE: '0' }, /^SESSION_IDLE must be more than 0/],
])('%j is refused, with a valid form', (wrong, words) => {
  expect(() => load({ ...SIGN_IN, ...wrong })).toThrow(words)
})

test('with an OpenID provider no password is generated, and remote administration may be enabled', () => {
  const settings = load({ ...SIGN_IN, ADMIN_ALLOW_REMOTE: 'true', API_HOST: '0.0.0.0' })
  expect(ensureAdminCredentials(settings).outcome).toEqual({ state: 'configured' })
})
