import { availableParallelism } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { Role } from '@gateway/contracts/operator.js'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { addressHosts } from './address-hosts.js'
import { isLoopbackHost } from './guard.js'
import { usableMemory } from './usable-memory.js'

/** The wording of refusals is here, since it names the value that the operator should write. The settings page has the descriptions. */
const text = z.string().describe('text')

const port = text
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((n) => n >= 1 && n <= 65_535, 'must be a port number from 1 to 65535')
  .describe('port')

/** Node's timers count milliseconds in 31 bits, and fire at once for a longer time. */
const MOST_SECONDS = 2_000_000

const seconds = text
  .regex(/^\d{1,9}(\.\d{1,3})?$/, 'must be a number of seconds')
  .transform(Number)
  .refine((n) => n > 0, 'must be more than 0 seconds')
  .refine((n) => n <= MOST_SECONDS, `must be at most ${MOST_SECONDS} seconds`)
  .describe('seconds')

/** Like `seconds`, but 0 is valid too. */
const secondsOrNone = text
  .regex(/^\d{1,4}(\.\d{1,3})?$/, 'must be a number of seconds')
  .transform(Number)
  .describe('seconds')

/** uSockets counts timeouts in 240 steps of 4 seconds. */
const MOST_IDLE_SECONDS = 900

const flag = text
  .transform((s) => s.toLowerCase())
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'], { error: 'must be true or false' }))
  .transform((s) => s === 'true' || s === '1' || s === 'yes' || s === 'on')
  .describe('`true`, `false`')

const host = text
  .regex(/^(?:\*|[A-Za-z0-9.:_[\]-]{1,255})$/, 'must be a host name, an IP address or *')
  // The port is a separate setting.
  .refine(
    (s) => !s.includes(':') || ipaddr.IPv6.isValid(s.replace(/^\[|\]$/g, '')),
    'must be a host name or an IP address',
  )
  .describe('host name, IP address, `*` for all of IPv4 and IPv6')

function withoutLastSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end--
  return url.slice(0, end)
}

const baseUrl = text
  // Responses put this URL, unchanged, before a path.
  .refine((s) => /^https?:\/\/\S+$/i.test(s) && URL.canParse(s), 'must be an http or https address')
  .refine((s) => {
    // All refinements run, even after an earlier one failed.
    if (!URL.canParse(s)) return true
    const url = new URL(s)
    return !/[?#]/.test(s) && url.username === '' && url.password === ''
  }, 'must have no user, query or fragment')
  .transform(withoutLastSlashes)
  .describe('`http://` or `https://` address')

/** Object storage in S3's form. The host may be one name in front of the bucket's, so only a host without a path is accepted. */
const storageEndpoint = baseUrl.refine(
  (s) => !URL.canParse(s) || new URL(s).pathname === '/',
  'must be the address of a host, without a path',
)

/** The issuer identifier of an OpenID provider, exactly as in its discovery document, slashes included (OpenID Connect Discovery 1.0, 4.3). */
const issuer = text
  .refine(
    (s) => URL.canParse(s) && isIssuer(new URL(s)),
    'must be the https address of an OpenID provider (http only on this machine)',
  )
  .describe('`https://` address')

function isIssuer({ protocol, hostname, search, hash, username, password }: URL): boolean {
  const bare = search === '' && hash === '' && username === '' && password === ''
  return bare && (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname)))
}

const list = text.transform((s) =>
  s
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
)

/** Matches URLs such as `s3://...`, which would otherwise be read as a directory of that name. */
const ADDRESS = /^[a-z0-9]+:\/\//i

const path = text.refine((s) => !s.includes('\0') && !ADDRESS.test(s), 'must be a path').transform((s) => resolve(s))
const directory = path.describe('directory')

/** The form that object-storage parses. Other mistakes in it are reported at its first use. */
const BUCKET = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/.*)?$/

function isBucket(s: string): boolean {
  return BUCKET.test(s) && !s.split('/').some((part) => part === '.' || part === '..')
}

const directoryOrBucket = text
  .refine((s) => !s.includes('\0') && (!ADDRESS.test(s) || isBucket(s)), 'must be a path, or s3://bucket/prefix')
  .transform((s) => (isBucket(s) ? withoutLastSlashes(s) : resolve(s)))
  .describe('directory, `s3://bucket/prefix`')

const directoriesAndBuckets = list
  .pipe(
    z
      .array(
        z.string().refine((s) => isAbsolute(s) || isBucket(s), 'must list absolute directories, or s3://bucket/prefix'),
      )
      .transform((places) => places.map((s) => (isBucket(s) ? withoutLastSlashes(s) : resolve(s)))),
  )
  .describe('list: absolute directories, `s3://bucket/prefix`')

/** Like `directory`: a path, made absolute from the working directory. */
const file = path.describe('file')

const directories = list
  .pipe(
    z
      .array(z.string().refine(isAbsolute, 'must list absolute directories'))
      .transform((dirs) => dirs.map((d) => resolve(d))),
  )
  .describe('list: absolute directories')

const hosts = list
  .pipe(
    z.array(
      z
        .string()
        .regex(
          /^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[?[0-9A-Fa-f:.]+\]?(:\d{1,5})?$/,
          'must list host names or IP addresses',
        ),
    ),
  )
  .describe('list: host names, IP addresses')

const cidrs = list
  .pipe(z.array(z.string().refine(isCidrOrAddress, 'must list IP addresses or CIDR ranges')))
  .describe('list: IP addresses, CIDR ranges')

const destinations = list
  .pipe(z.array(z.string().refine((s) => isCidrOrAddress(s) || isHostPattern(s), 'must list hosts or CIDR ranges')))
  .describe('list: hosts (`*.example.org`), CIDR ranges')

/** Requires all four parts of IPv4: `10/8` would mean 0.0.0.10/8, and would admit or exclude other addresses than the operator meant. */
function isCidrOrAddress(s: string): boolean {
  const { IPv4, IPv6 } = ipaddr
  return IPv4.isValidFourPartDecimal(s) || IPv4.isValidCIDRFourPartDecimal(s) || IPv6.isValid(s) || IPv6.isValidCIDR(s)
}

function isHostPattern(s: string): boolean {
  return /^(\*\.)?[A-Za-z0-9._-]+$/.test(s) && !/^[\d.]+$/.test(s)
}

export interface RoleGrant {
  readonly role: Role
  /** value of the claim; `*`: everyone whom the provider signs in */
  readonly value: string
}

const roleGrants = list
  .pipe(
    z
      .array(
        z
          .string()
          .max(500)
          .regex(/^(viewer|operator|admin) *=.*[^ =]/, 'must list roles with a value of the claim: admin=gis-admins'),
      )
      .transform((entries) => entries.map(roleGrant)),
  )
  .describe('list: role=value')

function roleGrant(entry: string): RoleGrant {
  const equals = entry.indexOf('=')
  return { role: entry.slice(0, equals).trim() as Role, value: entry.slice(equals + 1).trim() }
}

const UNIT_SECONDS = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 } as const

/** A century. The sum of a moment and a duration must stay a valid date. */
const MOST_DURATION = 36_500 * 86_400

/** Accepts whole seconds, or a number with s, m, h or d. */
const duration = text
  .regex(/^\d{1,9}(?:(?:\.\d{1,3})?[smhd])?$/, 'must be whole seconds or a number with s, m, h or d')
  .transform((s) => Number.parseFloat(s) * UNIT_SECONDS[s.replace(/^[\d.]+/, '') as keyof typeof UNIT_SECONDS])
  .refine((n) => n > 0, 'must be more than 0')
  .refine((n) => n <= MOST_DURATION, 'must be at most 36500d')
  .describe('seconds, or with `s`, `m`, `h`, `d`')

/** Like `duration`, but 0 is valid too. */
const durationOrNone = text
  .regex(/^\d{1,9}[smhd]?$/, 'must be whole seconds or a number with s, m, h or d')
  .transform((s) => Number.parseInt(s, 10) * UNIT_SECONDS[s.replace(/^\d+/, '') as keyof typeof UNIT_SECONDS])
  .refine((n) => n <= MOST_DURATION, 'must be at most 36500d')
  .describe('seconds, or with `s`, `m`, `h`, `d`')

const waits = list
  .pipe(
    z
      .array(z.string().regex(/^\d{1,6}(\.\d{1,3})?$/, 'must be waits in seconds, separated by commas'))
      .min(1, 'must name at least one wait')
      .max(20, 'must name at most 20 waits')
      .transform((parts) => parts.map(Number)),
  )
  .describe('list: seconds')

const days = text
  .regex(/^\d{1,5}$/, 'must be a whole number of days')
  .transform(Number)
  .refine((n) => n >= 1 && n <= 36_500, 'must be from 1 to 36500 days')
  .describe('days')

const UNIT_BYTES = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 } as const

/** Accepts whole bytes, or a number with k, m, g or t (powers of 1024). */
const bytes = text
  .regex(/^\d{1,12}[kmgtKMGT]?$/, 'must be whole bytes or a number with k, m, g or t')
  .transform((s) => Number.parseInt(s, 10) * UNIT_BYTES[s.replace(/^\d+/, '').toLowerCase() as keyof typeof UNIT_BYTES])
  .refine((n) => n > 0, 'must be more than 0')
  .describe('bytes, or with `k`, `m`, `g`, `t`')

/** Minimum of the cache on disk. A smaller cache holds too few extents of objects to choose among. */
const LEAST_TILE_CACHE = 256 * 2 ** 20
const cacheBytes = text
  .regex(/^\d{1,12}[kmgtKMGT]?$/, 'must be whole bytes or a number with k, m, g or t')
  .transform((s) => Number.parseInt(s, 10) * UNIT_BYTES[s.replace(/^\d+/, '').toLowerCase() as keyof typeof UNIT_BYTES])
  .refine((n) => n === 0 || n >= LEAST_TILE_CACHE, 'must be 0 or at least 256m')
  .describe('bytes, or with `k`, `m`, `g`, `t`; `0`, or at least `256m`')

/** Minimum of the tile memory. Less holds only a handful of tiles. The maximum depends on the machine, and the operator chooses it. */
const LEAST_TILE_MEMORY = 2 ** 20

/** Minimum for GDAL with a large feature, and for the two threads of a build. */
const LEAST_BUILD_MEMORY = 256 * 2 ** 20

/** Matches the values that a header carries unchanged. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** The value of a header, sent unchanged: visible ASCII and blanks. Only its characters are checked, since caches know directives that no list names. */
const cacheControl = text
  .max(500)
  .regex(HEADER_VALUE, 'must be the value of a Cache-Control header, in ASCII')
  .describe('value of the header')

/** Required for several hosts. Without it, writes would now and then go to a host that is not the primary, and be refused. */
const ONE_WRITES = /[?&]target_session_attrs=(read-write|primary)(&|$)/

const postgresUrl = text
  .refine(
    (s) => /^postgres(ql)?:\/\//.test(s) && (URL.canParse(s) || addressHosts(s) !== null),
    'must be a postgres:// address',
  )
  .refine(
    (s) => (addressHosts(s)?.length ?? 1) < 2 || ONE_WRITES.test(s),
    'names several hosts: add target_session_attrs=read-write, so that the primary is used',
  )
  .describe('`postgres://` address')
const redisUrl = text
  .refine(
    (s) => /^rediss?(\+(?:sentinel|cluster))?:\/\//.test(s) && (URL.canParse(s) || addressHosts(s) !== null),
    'must be a redis:// address, redis+sentinel:// or redis+cluster://',
  )
  .refine(
    (s) => (addressHosts(s)?.length ?? 1) < 2 || /\+(?:sentinel|cluster):/.test(s),
    'names several hosts: write redis+sentinel:// for Sentinels, redis+cluster:// for a Redis Cluster',
  )
  .refine(
    (s) => !s.includes('+sentinel:') || /^[a-z+]+:\/\/[^/?#]+\/[^/?#]/.test(s),
    'must name the master behind the Sentinels: redis+sentinel://host:26379/name',
  )
  .refine(
    (s) => !s.includes('+cluster:') || /^[a-z+]+:\/\/[^/?#]+\/?$/.test(s),
    'names a database, which a Redis Cluster does not have: write redis+cluster://host:6379,host:6379',
  )
  .describe('`redis://`, `rediss://`, `redis+sentinel://`, `redis+cluster://` address')

const smtpUrl = text
  .refine((s) => /^smtps?:\/\//.test(s) && URL.canParse(s), 'must be an smtp:// or smtps:// address')
  .describe('`smtp://` or `smtps://` address')

/**
 * All settings of the processes, by their names in the environment and the env file, in the groups and the order of the settings page and the
 * console. An empty setting counts as unset.
 */
export const SETTING_GROUPS = {
  addresses: {
    API_HOST: host.default('127.0.0.1'),
    API_PORT: port.default(8910),
    CONTROL_HOST: host.default('127.0.0.1'),
    CONTROL_PORT: port.default(8911),
    API_BASE_URL: baseUrl.optional(),
    TILE_PUBLIC_BASE_URL: baseUrl.optional(),
    VECTOR_PUBLIC_BASE_URL: baseUrl.optional(),
    PROVIDER_NAME: text.max(200).default('Map asset gateway'),
    PROVIDER_SITE: baseUrl.optional(),
    TRUSTED_PROXIES: cidrs.default([]),
    TLS_CERT_FILE: file.optional(),
    TLS_KEY_FILE: file.optional(),
  },
  administration: {
    // RFC 7617, 2: the first colon of Basic credentials ends the name.
    ADMIN_USER: text
      .max(200)
      .regex(/^[^:]*$/, 'must not hold a colon')
      .optional(),
    ADMIN_PASSWORD: text.max(1000).optional(),
    ADMIN_TOKEN: text.max(1000).regex(HEADER_VALUE, 'must be of visible ASCII, as headers are').optional(),
    ADMIN_ALLOW_REMOTE: flag.default(false),
    ADMIN_HOSTS: hosts.default([]),
  },
  operators: {
    OIDC_ISSUER: issuer.optional(),
    OIDC_CLIENT_ID: text.max(500).optional(),
    OIDC_CLIENT_SECRET: text.max(1000).optional(),
    OIDC_ROLE_CLAIM: text.max(500).default('groups'),
    OIDC_ROLES: roleGrants.default([]),
    SESSION_TTL: duration.default(12 * 3600),
    SESSION_IDLE: duration.default(2 * 3600),
  },
  tokens: {
    TOKEN_DEFAULT_TTL: duration.default(30 * 86_400),
    TOKEN_STALE_SECONDS: seconds.default(5),
    TOKEN_OFFLINE_SECONDS: seconds.default(300),
    TOKEN_ADDRESSES: flag.default(true),
  },
  store: {
    DATABASE_URL: postgresUrl.optional(),
    DATABASE_READ_URL: postgresUrl.optional(),
    REDIS_URL: redisUrl.optional(),
    DATA_DIR: directory.default(() => resolve('var')),
  },
  sources: {
    BASEMAP_ROOTS: directories.default([]),
    VECTOR_ROOTS: directories.default([]),
    STYLE_ROOTS: directories.default([]),
    DEMO: flag.default(true),
  },
  pictures: {
    RENDERING: flag.default(true),
    CHROMIUM_PATH: path.describe('file').default('/usr/bin/chromium'),
    RENDER_HOSTS: hosts.default([]),
  },
  vectors: {
    VECTOR_TILES: flag.default(true),
    VECTOR_BUILD_ROOT: directory.optional(),
    VECTOR_BUILD_MEMORY: bytes
      .refine((n) => n >= LEAST_BUILD_MEMORY, 'must be at least 256m')
      .describe('bytes, or with `k`, `m`, `g`, `t`; at least `256m`')
      .default(1.5 * 2 ** 30),
  },
  objectStorage: {
    S3_ENDPOINT: storageEndpoint.optional(),
    S3_REGION: text.regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a region').optional(),
    S3_FORCE_PATH_STYLE: flag.optional(),
    AWS_ACCESS_KEY_ID: text.max(256).optional(),
    AWS_SECRET_ACCESS_KEY: text.max(1000).optional(),
    AWS_SESSION_TOKEN: text.max(16_384).optional(),
  },
  tiles: {
    TILE_MEMORY: bytes
      .refine((n) => n >= LEAST_TILE_MEMORY, 'must be at least 1m')
      .describe('bytes, or with `k`, `m`, `g`, `t`; at least `1m`')
      .default(() => Math.max(LEAST_TILE_MEMORY, Math.floor(usableMemory() / 10))),
    TILE_CACHE_DIR: directory.optional(),
    TILE_CACHE_BYTES: cacheBytes.default(10 * 2 ** 30),
    DERIVED_BYTES: bytes.default(10 * 2 ** 30),
    TILE_CACHE_CONTROL: cacheControl.optional(),
    CURRENT_CACHE_CONTROL: cacheControl.optional(),
    MISSING_TILE_TTL: durationOrNone.default(0),
    CANARY_TOLERANCE: text
      .regex(/^\d{1,2}(\.\d{1,3})? ?%?$/, 'must be a share in percent, as 1 or 0.5%')
      .transform((value) => Number.parseFloat(value))
      .describe('percent')
      .default(1),
  },
  slicing: {
    SLICE_OUTPUT_ROOT: directoryOrBucket.optional(),
    SLICE_SOURCE_ROOTS: directoriesAndBuckets.default([]),
    SLICE_FETCH_MAX_BYTES: bytes.default(64 * 2 ** 30),
    TILER_COMMAND: text.max(4096).optional(),
    JOB_RETENTION_DAYS: days.default(90),
  },
  deliveries: {
    CALLBACK_ALLOW: destinations.default([]),
    CALLBACK_DENY: destinations.default([]),
    UPSTREAM_ALLOW: destinations.default([]),
    UPSTREAM_DENY: destinations.default([]),
    SMTP_URL: smtpUrl.optional(),
    SMTP_FROM: text.max(320, 'must have at most 320 characters').optional(),
    AUDIT_HEAD_TARGET: text.max(180, 'must have at most 180 characters').optional(),
    RETRY_WAITS: waits.default([30, 60, 60]),
    IMPORT_TOKEN: text
      .min(16, 'must have at least 16 characters')
      .max(1000, 'must have at most 1000 characters')
      .optional(),
    IMPORT_MAX_BYTES: bytes.default(16 * 2 ** 30),
    EXPORT_MAX_BYTES: bytes.default(20 * 2 ** 30),
    EXPORT_RETENTION_DAYS: days.default(7),
  },
  processes: {
    EDGE_WORKERS: text
      .regex(/^\d{1,3}$/, 'must be a number of processes')
      .transform(Number)
      .refine((n) => n >= 1 && n <= 128, 'must be from 1 to 128')
      .describe('number, 1 to 128')
      .default(() => availableParallelism()),
    NATIVE_TIER: z.enum(['any', 'proven', 'off'], { error: 'must be any, proven or off' }).default('proven'),
    KEEP_ALIVE_SECONDS: seconds
      .refine((n) => n <= MOST_IDLE_SECONDS, `must be at most ${MOST_IDLE_SECONDS} seconds`)
      .describe(`seconds, at most ${MOST_IDLE_SECONDS}`)
      .default(75),
    DRAIN_NOTICE_SECONDS: secondsOrNone.default(2),
    DRAIN_SECONDS: seconds.default(10),
  },
  observing: {
    LOG_LEVEL: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
        error: 'must be trace, debug, info, warn, error, fatal or silent',
      })
      .default('info'),
    ACCESS_LOG_EVERY: text
      .regex(/^\d{1,9}$/, 'must be a number of responses, or 0')
      .transform(Number)
      .describe('number')
      .default(0),
    USAGE_DAYS: days.default(400),
  },
} as const

export const SETTINGS = {
  ...SETTING_GROUPS.addresses,
  ...SETTING_GROUPS.administration,
  ...SETTING_GROUPS.operators,
  ...SETTING_GROUPS.tokens,
  ...SETTING_GROUPS.store,
  ...SETTING_GROUPS.sources,
  ...SETTING_GROUPS.pictures,
  ...SETTING_GROUPS.vectors,
  ...SETTING_GROUPS.objectStorage,
  ...SETTING_GROUPS.tiles,
  ...SETTING_GROUPS.slicing,
  ...SETTING_GROUPS.deliveries,
  ...SETTING_GROUPS.processes,
  ...SETTING_GROUPS.observing,
}

export type SettingName = keyof typeof SETTINGS
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** Settings whose value must not appear in a log or on a console page. */
export const SECRET_SETTINGS: ReadonlySet<SettingName> = new Set([
  'ADMIN_PASSWORD',
  'ADMIN_TOKEN',
  'OIDC_CLIENT_SECRET',
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  'SMTP_URL',
  'IMPORT_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
])

export type SettingValues = { [K in SettingName]: z.output<(typeof SETTINGS)[K]> }
