import type { z } from 'zod'
import { SETTING_GROUPS, type SettingGroup } from './groups.js'
import { SETTINGS, type SettingName } from './schema.js'

interface Documented {
  readonly meaning: string
  /** description of a default that depends on the machine or on other settings */
  readonly byDefault?: string
}

/**
 * The descriptions of the settings page, in Markdown. Kind of value and default come from the schema. After a change run `npm run docs:reference`,
 * which writes them into docs/reference/settings.md.
 */
const DOCUMENTED: Readonly<Record<SettingName, Documented>> = {
  API_HOST: { meaning: 'address on which the edge listens' },
  API_PORT: { meaning: 'address on which the edge listens' },
  CONTROL_HOST: { meaning: 'address on which the control plane listens and the edge connects to it' },
  CONTROL_PORT: { meaning: 'address on which the control plane listens and the edge connects to it' },
  API_BASE_URL: { meaning: 'the address by which callers reach the gateway', byDefault: 'the listen address' },
  TILE_PUBLIC_BASE_URL: {
    meaning: 'public address of tiles in responses; `url_template` follows at the next scan',
    byDefault: '`API_BASE_URL`',
  },
  VECTOR_PUBLIC_BASE_URL: { meaning: 'public address of vectors in responses', byDefault: '`API_BASE_URL`' },
  PROVIDER_NAME: { meaning: 'name of the organisation that offers the maps, in the capabilities of WMTS' },
  PROVIDER_SITE: { meaning: 'web site of that organisation', byDefault: 'not named' },
  ADMIN_USER: { meaning: 'user name of the console (Basic)', byDefault: '`admin`' },
  ADMIN_PASSWORD: { meaning: 'password of the console (Basic)', byDefault: 'written at the first start' },
  ADMIN_TOKEN: { meaning: 'Bearer credential for scripts', byDefault: 'written at the first start' },
  OIDC_ISSUER: {
    meaning: 'OpenID provider at which operators sign in; see [several operators](../operators.md)',
    byDefault: 'off',
  },
  OIDC_CLIENT_ID: { meaning: 'client id of this gateway at the provider' },
  OIDC_CLIENT_SECRET: { meaning: 'client secret of this gateway; without one the client is public (PKCE only)' },
  OIDC_ROLE_CLAIM: {
    meaning: 'the claim whose values give roles; write a nested claim with dots (`realm_access.roles`)',
  },
  OIDC_ROLES: {
    meaning:
      'the role for each value of the claim: `viewer=staff,operator=gis,admin=gis-admins`; `*` is everyone whom the provider signs in',
  },
  SESSION_TTL: { meaning: 'the longest time that a session lasts' },
  SESSION_IDLE: { meaning: 'the time after which an unused session ends' },
  ADMIN_ALLOW_REMOTE: { meaning: 'opens the admin routes to other hosts; needs credentials' },
  ADMIN_HOSTS: { meaning: 'further `Host` names that admin routes accept' },
  TRUSTED_PROXIES: { meaning: 'proxies whose `X-Forwarded-For` is trusted' },
  TOKEN_DEFAULT_TTL: { meaning: 'lifetime of a token issued without `expires_at`' },
  TOKEN_STALE_SECONDS: {
    meaning: 'an edge that is cut off from the bus refuses a disabled token within this time',
  },
  TOKEN_OFFLINE_SECONDS: {
    meaning:
      'an edge that neither reaches the store nor hears of its state over the bus serves the tokens that it knows for this long, then returns 503',
  },
  DATABASE_URL: {
    meaning:
      'the store. A PgBouncer in between must pool sessions (`pool_mode = session`). TLS, several hosts: see "Managed services" under ' +
      '[Operation](../install.md)',
    byDefault: 'embedded Postgres under `DATA_DIR`',
  },
  DATABASE_READ_URL: {
    meaning:
      'a streaming replica of the store, from which edges look up tokens and read the catalog; a replica that lags is not trusted, see [Scaling out](../scale-out.md)',
    byDefault: 'not set: all reads go to `DATABASE_URL`',
  },
  REDIS_URL: { meaning: 'the bus; `rediss://` is TLS', byDefault: 'Postgres NOTIFY' },
  DATA_DIR: {
    meaning:
      'embedded database, demo data, zip cache, sliced layers; on an edge the catalog that it keeps for a start without the store (tokens as ' +
      'digests, mode 0600)',
    byDefault: '`var`',
  },
  EDGE_WORKERS: { meaning: 'edge processes on the one port', byDefault: 'number of cores' },
  DRAIN_NOTICE_SECONDS: {
    meaning:
      'time after `SIGTERM` for which a process returns 503 at `/ready` and still accepts connections; `0`: none',
  },
  DRAIN_SECONDS: { meaning: 'maximum time for which it then finishes requests in progress' },
  KEEP_ALIVE_SECONDS: {
    meaning:
      'minimum time for which an idle connection stays open (at the edge some seconds longer, and never less than 8). Set it above the time for which load ' +
      'balancers in front reuse connections. Without the native addon the edge closes after 10 s, whatever the setting',
  },
  TLS_CERT_FILE: {
    meaning:
      'PEM file of a certificate with its chain, for an edge without a proxy in front; see [TLS](../proxies.md#tls-without-a-proxy)',
    byDefault: 'plain HTTP',
  },
  TLS_KEY_FILE: { meaning: 'PEM file of the private key of that certificate', byDefault: 'plain HTTP' },
  NATIVE_TIER: {
    meaning:
      'when the native addon is used: `proven`: only with a uWebSockets.js binary with which it has been proven; `any`: with any binary that ' +
      'passes the self-test at start; `off`: never. Without the addon bodies are copied, which `npm run doctor` reports. No binary for arm64 ' +
      'is proven',
  },
  TILE_MEMORY: {
    meaning: 'memory for tiles in one edge, over all its processes; each process gets an equal share',
    byDefault: 'a tenth of the memory that the process may use (of the machine, or by the limit of its cgroup)',
  },
  TILE_CACHE_DIR: {
    meaning:
      'directory in which an edge caches data of versions in object storage; see [the cache of remote ' +
      'tiles](../reference/sources.md#the-cache-of-remote-tiles). Use a local disk of the host',
    byDefault: '`DATA_DIR/cache/tiles`',
  },
  TILE_CACHE_BYTES: {
    meaning: 'maximum size of that cache, for all processes of the host together; `0`: no cache',
  },
  DERIVED_BYTES: {
    meaning:
      'maximum disk space below `DATA_DIR`, on each edge host, for the indexes of vectors and their downloads in other formats; the least recently ' +
      'used ones are deleted first',
  },
  RENDERING: {
    meaning:
      '`false`: styles are not drawn as pictures. Otherwise an edge on a host with Chromium draws them; see [pictures of styles](../howto/pictures.md)',
  },
  CHROMIUM_PATH: {
    meaning: 'the Chromium that draws styles; Debian’s package `chromium` installs it at the default path',
  },
  RENDER_HOSTS: {
    meaning:
      'hosts, other than the gateway, from which drawn styles may load sources, sprites and glyphs: names, or names with a port. Parts from other ' +
      'hosts are left out of pictures',
    byDefault: 'none',
  },
  BASEMAP_ROOTS: { meaning: 'directories that become scan sources of basemaps at start' },
  VECTOR_ROOTS: { meaning: 'directories that become scan sources of vectors at start' },
  VECTOR_TILES: {
    meaning: '`true` to build vector tiles from vectors; otherwise tiles that are already built are no longer served',
  },
  VECTOR_BUILD_ROOT: {
    meaning:
      'directory of built vector tiles and indexes: control planes write to it, and edges read it at the same path',
    byDefault: '`DATA_DIR/vector-builds`',
  },
  VECTOR_BUILD_MEMORY: { meaning: 'maximum memory of one build of vector tiles' },
  STYLE_ROOTS: { meaning: 'directories that become scan sources of styles at start' },
  SLICE_OUTPUT_ROOT: {
    meaning: 'directory or place in object storage for sliced layers, which is also a source of basemaps',
    byDefault: '`DATA_DIR/layers`',
  },
  SLICE_SOURCE_ROOTS: {
    meaning: 'directories in which source images must lie, and buckets from which they are fetched',
    byDefault: 'any directory',
  },
  SLICE_FETCH_MAX_BYTES: { meaning: 'size limit of the images that one slice job fetches from object storage' },
  TILER_COMMAND: { meaning: "the operator's own tiling command", byDefault: 'built in' },
  CALLBACK_ALLOW: { meaning: 'the only destinations of callbacks and pushes; see [deliveries](deliveries.md)' },
  CALLBACK_DENY: { meaning: 'forbidden destinations' },
  UPSTREAM_ALLOW: { meaning: 'the only services of others that scan sources of kind `service` may ask' },
  UPSTREAM_DENY: { meaning: 'services of others that are never asked' },
  SMTP_URL: {
    meaning: 'the mail server of notifications, with its credentials: `smtps://user:password@mail.example.com`',
  },
  SMTP_FROM: { meaning: 'the sender of notifications: `Map gateway <maps@example.com>`' },
  RETRY_WAITS: { meaning: 'waits before each retry of a delivery' },
  JOB_RETENTION_DAYS: {
    meaning: 'time for which slice jobs, their logs and the records of their callbacks are kept after their end',
  },
  USAGE_DAYS: { meaning: 'time for which the usage of tokens, basemaps, versions and vectors is kept' },
  TOKEN_ADDRESSES: {
    meaning:
      '`true` to keep the client addresses of the first and the last use of each token (`first_used_from`, `last_used_from`); with ' +
      '`false` the kept addresses are deleted within an hour. See [usage](../observing.md#usage)',
  },
  IMPORT_TOKEN: { meaning: 'credential under which other gateways may push into this one', byDefault: 'off' },
  IMPORT_MAX_BYTES: { meaning: 'size limit of one import, packed and unpacked' },
  EXPORT_MAX_BYTES: {
    meaning:
      'maximum size of the archives of all exports together, below `DATA_DIR/exports`; an export that does not fit fails',
  },
  EXPORT_RETENTION_DAYS: { meaning: 'time for which exports and their archives are kept after their end' },
  S3_ENDPOINT: {
    meaning: 'the S3-compatible storage behind `s3://` paths, such as `https://minio.example.org`',
    byDefault: 'AWS',
  },
  S3_REGION: {
    meaning: 'the region of that storage, which signatures name',
    byDefault: '`AWS_REGION`, `AWS_DEFAULT_REGION`, or `us-east-1`',
  },
  S3_FORCE_PATH_STYLE: {
    meaning: '`true` if a bucket is the first segment of the path, `false` if it is a part of the host name',
    byDefault: '`true` with `S3_ENDPOINT`',
  },
  AWS_ACCESS_KEY_ID: {
    meaning:
      'key of object storage; without it the gateway looks for keys as the AWS tools do (profile, web identity, container, instance)',
  },
  AWS_SECRET_ACCESS_KEY: { meaning: 'the secret of that key' },
  AWS_SESSION_TOKEN: { meaning: 'only for temporary keys' },
  TILE_CACHE_CONTROL: {
    meaning: '`Cache-Control` of tiles; see [caches in front](../caches.md)',
    byDefault: '`public, max-age=31536000, immutable`',
  },
  CURRENT_CACHE_CONTROL: {
    meaning: 'the same for addresses that name no fixed version: `current`, and those without a version',
    byDefault: 'as tiles',
  },
  MISSING_TILE_TTL: {
    meaning:
      'time for which caches may keep the 404 of a tile that is missing within the bounds and zooms of its version; `0`: none',
  },
  AUDIT_HEAD_TARGET: {
    meaning:
      'the code of a target (HTTP, directory or bucket) that receives the head of the audit chain once a day; see [operators](../operators.md)',
  },
  CANARY_TOLERANCE: {
    meaning:
      'by how many percent of its requests a version in a canary may return more 404s, or more 5xx, than the previous version; see ' +
      '[automation](../automation.md)',
  },
  DEMO: { meaning: 'fill an empty catalog with demo data' },
  ACCESS_LOG_EVERY: {
    meaning:
      'the edge logs one in this number of responses; `1`: every response, `0`: none. See [metrics, logs, traces](../observing.md)',
  },
  LOG_LEVEL: { meaning: 'the lowest level that is logged' },
}

/** Headings of the page of settings. */
const TITLES: Readonly<Record<SettingGroup, string>> = {
  addresses: 'Addresses, proxies and TLS',
  administration: 'Access to the administration',
  operators: 'Operators and their sessions',
  tokens: 'Service tokens',
  store: 'Store, bus and data directory',
  sources: 'Scan sources and demo data',
  vectors: 'Vector tiles',
  pictures: 'Pictures of styles',
  objectStorage: 'Object storage',
  tiles: 'Tiles and caches',
  slicing: 'Slicing',
  deliveries: 'Deliveries, imports and exports',
  processes: 'Processes and connections',
  observing: 'Logs and usage',
}

/** Returns the tables of docs/reference/settings.md, one under the heading of each group. */
export function settingsTables(): string {
  return Object.entries(SETTING_GROUPS)
    .map(([group, names]) => `## ${TITLES[group as SettingGroup]}\n\n${tableOf(names)}`)
    .join('\n\n')
}

function tableOf(names: readonly SettingName[]): string {
  const rows = names.map((name) => {
    const { meaning, byDefault = defaultOf(name) } = DOCUMENTED[name]
    return `| \`${name}\` | ${kindOf(SETTINGS[name])} | ${byDefault} | ${meaning} |`
  })
  return ['| Setting | Value | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n')
}

/** Describes a kind of value by its schema. For a choice, lists all values. */
function kindOf(schema: z.core.$ZodType): string {
  const { type, innerType, entries } = schema._zod.def as z.core.$ZodDefaultDef & z.core.$ZodEnumDef
  if (type === ('default' as string) || type === ('optional' as string)) return kindOf(innerType)
  if (entries) return Object.keys(entries).map(quoted).join(', ')
  return (schema as z.ZodType).description ?? ''
}

/** Formats a default as an operator would write it: with the largest unit that leaves a whole number. */
function defaultOf(name: SettingName): string {
  const value: unknown = SETTINGS[name].parse(undefined)
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  if (typeof value !== 'number') return quoted(String(value))
  const kind = kindOf(SETTINGS[name])
  if (kind.includes('`k`')) return quoted(inUnits(value, { t: 2 ** 40, g: 2 ** 30, m: 2 ** 20, k: 2 ** 10 }))
  if (kind.includes('`h`')) return quoted(inUnits(value, { d: 86_400, h: 3600, m: 60 }))
  return quoted(String(value))
}

function inUnits(value: number, units: Readonly<Record<string, number>>): string {
  const whole = Object.entries(units).find(([, size]) => value > 0 && value % size === 0)
  return whole ? `${value / whole[1]}${whole[0]}` : String(value)
}

const quoted = (text: string) => `\`${text}\``
