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
  API_HOST: { meaning: 'where the edge listens' },
  API_PORT: { meaning: 'where the edge listens' },
  CONTROL_HOST: { meaning: 'where the control plane listens, and where the edge finds it' },
  CONTROL_PORT: { meaning: 'where the control plane listens, and where the edge finds it' },
  API_BASE_URL: { meaning: 'the address by which callers reach the gateway', byDefault: 'the listen address' },
  TILE_PUBLIC_BASE_URL: {
    meaning: 'public address of tiles in answers; `url_template` follows at the next scan',
    byDefault: '`API_BASE_URL`',
  },
  VECTOR_PUBLIC_BASE_URL: { meaning: 'public address of vectors in answers', byDefault: '`API_BASE_URL`' },
  ADMIN_USER: { meaning: 'user name of the console (Basic)', byDefault: '`admin`' },
  ADMIN_PASSWORD: { meaning: 'password of the console (Basic)', byDefault: 'written at the first start' },
  ADMIN_TOKEN: { meaning: 'Bearer credential for scripts', byDefault: 'written at the first start' },
  OIDC_ISSUER: {
    meaning: 'OpenID provider at which operators sign in; see [several operators](../operators.md)',
    byDefault: 'off',
  },
  OIDC_CLIENT_ID: { meaning: 'what the provider calls this gateway' },
  OIDC_CLIENT_SECRET: { meaning: 'its secret; without one the client is public (PKCE only)' },
  OIDC_ROLE_CLAIM: {
    meaning: 'the claim from whose values roles are given; one inside of others with dots (`realm_access.roles`)',
  },
  OIDC_ROLES: {
    meaning:
      'which value gives which role: `viewer=staff,operator=gis,admin=gis-admins`; `*` is everyone whom the provider signs in',
  },
  SESSION_TTL: { meaning: 'when a session ends at the latest' },
  SESSION_IDLE: { meaning: 'when a session ends that nobody uses' },
  ADMIN_ALLOW_REMOTE: { meaning: 'opens the admin routes to other hosts; needs credentials' },
  ADMIN_HOSTS: { meaning: 'further `Host` names that admin routes answer to' },
  TRUSTED_PROXIES: { meaning: 'proxies whose `X-Forwarded-For` counts' },
  TOKEN_DEFAULT_TTL: { meaning: 'lifetime of a token issued without `expires_at`' },
  TOKEN_STALE_SECONDS: {
    meaning: 'an edge that is cut off from the bus refuses a disabled token within this time',
  },
  TOKEN_OFFLINE_SECONDS: {
    meaning: 'an edge that reaches neither bus nor store serves the tokens it knows for this long, then returns 503',
  },
  DATABASE_URL: {
    meaning:
      'the store; a PgBouncer between must pool sessions (`pool_mode = session`). TLS, several hosts: see "Managed services" under [Operation](../install.md)',
    byDefault: 'embedded Postgres under `DATA_DIR`',
  },
  DATABASE_READ_URL: {
    meaning:
      'a streaming replica of the store, from which edges look up tokens and read the catalog; a replica that lags is not trusted, see [Scaling out](../scale-out.md)',
    byDefault: 'none: `DATABASE_URL` answers everything',
  },
  REDIS_URL: { meaning: 'the bus; `rediss://` is TLS', byDefault: 'Postgres NOTIFY' },
  DATA_DIR: {
    meaning:
      'embedded database, demo data, zip cache, sliced layers; of an edge the catalog that it keeps for a start without the store (tokens as digests, mode 0600)',
    byDefault: '`var`',
  },
  EDGE_WORKERS: { meaning: 'edge processes on the one port', byDefault: 'number of cores' },
  DRAIN_NOTICE_SECONDS: {
    meaning:
      'how long a process that was sent `SIGTERM` says 503 at `/ready` and still accepts connections, before it takes no more; `0`: not at all',
  },
  DRAIN_SECONDS: { meaning: 'how long it then finishes what is under way' },
  KEEP_ALIVE_SECONDS: {
    meaning:
      'how long an idle connection lives at least (at the edge some seconds more, and never less than 8). Keep it above what load balancers in front reuse connections for. Without the native addon the edge closes after 10 s, whatever is set',
  },
  TLS_CERT_FILE: {
    meaning:
      'PEM file of a certificate with its chain, for an edge without a proxy in front; see [TLS](../proxies.md#tls-without-a-proxy)',
    byDefault: 'plain HTTP',
  },
  TLS_KEY_FILE: { meaning: 'PEM file of the key to it', byDefault: 'plain HTTP' },
  NATIVE_TIER: {
    meaning:
      'the addon below JavaScript: only with a uWebSockets.js binary that it was `proven` with, with `any` that passes the self-test at start, or `off`. Otherwise bodies are copied, which `npm run doctor` reports. No binary for arm64 is proven',
  },
  TILE_MEMORY: {
    meaning: 'tiles that one edge keeps in memory, over all its processes; each process gets an equal share',
    byDefault: 'a tenth of the memory that the process may use (of the machine, or by the limit of its cgroup)',
  },
  TILE_CACHE_DIR: {
    meaning:
      "where an edge keeps what it has read of versions in object storage; see [the cache of remote tiles](../reference/sources.md#the-cache-of-remote-tiles). A local disk, of the host's own",
    byDefault: '`DATA_DIR/cache/tiles`',
  },
  TILE_CACHE_BYTES: { meaning: 'how much of that disk it may take, over all processes of the host; `0`: none' },
  DERIVED_BYTES: {
    meaning:
      'how much disk below `DATA_DIR` the indexes of vectors and their downloads in other forms may take on each edge host; what was not used for longest goes first',
  },
  BASEMAP_ROOTS: { meaning: 'become scan sources of basemaps at start' },
  VECTOR_ROOTS: { meaning: 'become scan sources of vectors at start' },
  VECTOR_TILES: {
    meaning: 'whether vector tiles are built from vectors; those that are built already are no longer served if not',
  },
  VECTOR_BUILD_ROOT: {
    meaning: 'where vector tiles and indexes are built: control planes write there, and edges read it at the same path',
    byDefault: '`DATA_DIR/vector-builds`',
  },
  VECTOR_BUILD_MEMORY: { meaning: 'how much memory one build of vector tiles may use' },
  STYLE_ROOTS: { meaning: 'become scan sources of styles at start' },
  SLICE_OUTPUT_ROOT: {
    meaning: 'where sliced layers go; itself a source of basemaps',
    byDefault: '`DATA_DIR/layers`',
  },
  SLICE_SOURCE_ROOTS: {
    meaning: 'what source images must lie in, and buckets from which they are fetched',
    byDefault: 'any directory',
  },
  SLICE_FETCH_MAX_BYTES: { meaning: 'size limit of the images that one slice job fetches from object storage' },
  TILER_COMMAND: { meaning: "the operator's own tiling command", byDefault: 'built in' },
  CALLBACK_ALLOW: { meaning: 'where callbacks and pushes may go, and nowhere else; see [deliveries](deliveries.md)' },
  CALLBACK_DENY: { meaning: 'where they may not go' },
  SMTP_URL: {
    meaning: 'the mail server of notifications, with its credentials: `smtps://user:password@mail.example.com`',
  },
  SMTP_FROM: { meaning: 'the sender of notifications: `Map gateway <maps@example.com>`' },
  RETRY_WAITS: { meaning: 'waits before each retry of a delivery' },
  JOB_RETENTION_DAYS: {
    meaning: "how long slice jobs, their logs and their callbacks' records are kept after their end",
  },
  USAGE_DAYS: { meaning: 'how long it is kept what tokens, basemaps, versions and vectors were used for' },
  TOKEN_ADDRESSES: {
    meaning:
      'whether it is kept from which client address each token was used first and last (`first_used_from`, `last_used_from`); with `false` what was kept is deleted within an hour. See [usage](../observing.md#usage)',
  },
  IMPORT_TOKEN: { meaning: 'credential under which other gateways may push into this one', byDefault: 'off' },
  IMPORT_MAX_BYTES: { meaning: 'size limit of one import, packed and unpacked' },
  EXPORT_MAX_BYTES: {
    meaning:
      'the most that the archives of all exports take together, below `DATA_DIR/exports`; what does not fit fails',
  },
  EXPORT_RETENTION_DAYS: { meaning: 'how long exports and their archives are kept after their end' },
  S3_ENDPOINT: {
    meaning: 'the S3-compatible storage behind `s3://` paths, such as `https://minio.example.org`',
    byDefault: 'AWS',
  },
  S3_REGION: {
    meaning: 'its region, which signatures name',
    byDefault: '`AWS_REGION`, `AWS_DEFAULT_REGION`, or `us-east-1`',
  },
  S3_FORCE_PATH_STYLE: {
    meaning: 'whether a bucket is the first segment of the path (`true`), or a part of the host name',
    byDefault: '`true` with `S3_ENDPOINT`',
  },
  AWS_ACCESS_KEY_ID: {
    meaning:
      "key of object storage; without it keys are looked for as AWS's own tools do (profile, web identity, container, instance)",
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
      'how long caches may keep that a tile is missing within the bounds and zooms of its version; `0`: not at all',
  },
  AUDIT_HEAD_TARGET: {
    meaning:
      'the code of a target (HTTP, directory or bucket) that receives the head of the audit chain once a day; see [operators](../operators.md)',
  },
  CANARY_TOLERANCE: {
    meaning:
      'by how many percent of its requests a version that a share of the tokens has first may answer more 404s, or more 5xx, than the version before; see [automation](../automation.md)',
  },
  DEMO: { meaning: 'fill an empty catalog with demo data' },
  ACCESS_LOG_EVERY: {
    meaning:
      'one answer of the edge in so many is a line of its log; `1`: each, `0`: none. See [metrics, logs, traces](../observing.md)',
  },
  LOG_LEVEL: { meaning: 'the least that is logged' },
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
