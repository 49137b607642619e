import { resolve } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { linesWithoutValue, readEnvFile } from './env-file.js'
import { guardStart } from './guard.js'
import { SettingsRefusal } from './refusal.js'
import {
  type RoleGrant,
  SECRET_SETTINGS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingValues,
} from './schema.js'
import { readSecretFile, SECRET_FILE_SETTINGS } from './secret-files.js'
import { type TracingProtocol, tracingProtocol } from './tracing.js'

export const DEFAULT_CONFIG_FILE = 'config/service.env'

/** The settings of all processes, after defaults. Addresses carry no trailing slash; paths are absolute; durations are seconds. */
export interface Settings {
  readonly configFile: string
  readonly apiHost: string
  readonly apiPort: number
  readonly controlHost: string
  readonly controlPort: number
  readonly apiBaseUrl: string
  readonly tilePublicBaseUrl: string
  readonly vectorPublicBaseUrl: string
  readonly adminUser: string
  readonly adminPassword: string | null
  readonly adminToken: string | null
  /** null: no sign-in by OpenID Connect, and no sessions */
  readonly oidcIssuer: string | null
  readonly oidcClientId: string | null
  /** null: a public client, which proves itself by PKCE alone */
  readonly oidcClientSecret: string | null
  readonly oidcRoleClaim: string
  readonly oidcRoles: readonly RoleGrant[]
  /** from the sign-in to the end, whatever happens between */
  readonly sessionTtlSeconds: number
  /** without a request that a person caused */
  readonly sessionIdleSeconds: number
  readonly adminAllowRemote: boolean
  readonly adminHosts: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly tokenDefaultTtlSeconds: number
  readonly tokenStaleSeconds: number
  readonly tokenOfflineSeconds: number
  readonly databaseUrl: string | null
  /** a replica for look-ups of tokens and reads of the catalog; null: the store itself answers them */
  readonly databaseReadUrl: string | null
  readonly redisUrl: string | null
  readonly dataDir: string
  readonly edgeWorkers: number
  readonly drainNoticeSeconds: number
  readonly drainSeconds: number
  readonly keepAliveSeconds: number
  /** PEM files of the edge's certificate chain and key; null: the edge speaks plain HTTP */
  readonly tlsCertFile: string | null
  readonly tlsKeyFile: string | null
  /** with which uWebSockets.js binaries the native tier is tried */
  readonly nativeTier: 'any' | 'proven' | 'off'
  /** of all edge processes of this host together */
  readonly tileMemoryBytes: number
  /** of tiles that are in object storage, on this host's disk */
  readonly tileCacheDir: string
  /** of all edge processes of this host together; 0: nothing is kept on disk */
  readonly tileCacheBytes: number
  /** of indexes of vectors and of their downloads in other forms, on the disk of each edge host */
  readonly derivedBytes: number
  readonly basemapRoots: readonly string[]
  readonly vectorRoots: readonly string[]
  readonly styleRoots: readonly string[]
  /** a directory, or `s3://bucket/prefix` */
  readonly sliceOutputRoot: string
  readonly vectorTiles: boolean
  /** the directory of what is built of vectors, the same for control planes and edges */
  readonly vectorBuildRoot: string
  /** bytes that one build may hold */
  readonly vectorBuildMemory: number
  /** the directory in which layers are made: `sliceOutputRoot` itself unless that is a bucket */
  readonly sliceWorkRoot: string
  /** directories, and `s3://bucket/prefix` */
  readonly sliceSourceRoots: readonly string[]
  /** of the images of one job that are fetched from object storage */
  readonly sliceFetchMaxBytes: number
  readonly tilerCommand: string | null
  readonly callbackAllow: readonly string[]
  /** the mail server of notifications, with its credentials; null: none */
  readonly smtpUrl: string | null
  readonly smtpFrom: string | null
  /** the code of the target that the head of the audit is sent to each day; null: none */
  readonly auditHeadTarget: string | null
  readonly callbackDeny: readonly string[]
  readonly retryWaitsSeconds: readonly number[]
  readonly jobRetentionDays: number
  readonly usageDays: number
  /** whether it is kept from which address each token was used last */
  readonly tokenAddresses: boolean
  /** null: nothing is taken in from other gateways */
  readonly importToken: string | null
  readonly importMaxBytes: number
  /** of the archives of all exports together */
  readonly exportMaxBytes: number
  readonly exportRetentionDays: number
  /** origin of the S3-compatible storage; null: AWS */
  readonly s3Endpoint: string | null
  readonly s3Region: string
  /** the bucket is the first segment of the path, not a part of the host name */
  readonly s3ForcePathStyle: boolean
  /** null: keys are looked for as AWS's own tools do, in profiles, web identity and the instance */
  readonly awsAccessKeyId: string | null
  readonly awsSecretAccessKey: string | null
  /** of temporary keys alone */
  readonly awsSessionToken: string | null
  /** Cache-Control of tiles, and of those at addresses that name no fixed version; null: as the interface says */
  readonly tileCacheControl: string | null
  readonly currentCacheControl: string | null
  /** for how long a tile that is missing within its set may be kept as such; 0: not at all */
  readonly missingTileTtlSeconds: number
  /** by how much of its requests a canary may be worse than the version before; 0 to 1 */
  readonly canaryToleranceShare: number
  readonly demo: boolean
  /** one answer of the edge in so many is a line of its log; 0: none is */
  readonly accessLogEvery: number
  /** how traces are sent, by the standard variables of OpenTelemetry; null: they are not */
  readonly tracing: TracingProtocol | null
  readonly logLevel: SettingValues['LOG_LEVEL']
}

/** The console's user name where only a password is configured. */
const DEFAULT_ADMIN_USER = 'admin'

/**
 * Reads the settings: the environment first, then the env file that CONFIG_FILE names, then defaults.
 * Throws SettingsRefusal, with one line that names the setting, for an unknown or malformed one and where the start-up guard forbids it.
 */
export function loadSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const configFile = resolve(env.CONFIG_FILE || DEFAULT_CONFIG_FILE)
  const file = readEnvFile(configFile)
  refuseUnknown(env, file, configFile)
  refuseWithoutValue(configFile)
  const settings = withDerived(parseAll(env, file, configFile), configFile, tracingProtocol(env), regionOf(env))
  guardStart(settings)
  refuseHalfTls(settings)
  refuseHalfKeys(settings)
  return settings
}

function refuseUnknown(env: NodeJS.ProcessEnv, file: Record<string, string>, configFile: string): void {
  for (const key of Object.keys(file)) {
    if (!isSetting(key)) throw new SettingsRefusal(`${key} in ${configFile} is not a setting${suggestion(key)}`)
  }
  // The environment is full of other programs' variables: there only a near miss of a setting's name is taken for a mistake.
  for (const key of Object.keys(env)) {
    if (key !== 'CONFIG_FILE' && !isSetting(key) && nearest(key) !== null) {
      throw new SettingsRefusal(`${key} in the environment is not a setting${suggestion(key)}`)
    }
  }
}

/** `API_PORT 9000`, say: passed over, it would leave the default in force without a word. */
function refuseWithoutValue(configFile: string): void {
  const name = linesWithoutValue(configFile).find((key) => isSetting(key) || nearest(key) !== null)
  if (name !== undefined) throw new SettingsRefusal(`${name} in ${configFile} has no value: write ${name}=...`)
}

/** One without the other would leave the edge in plain HTTP without a word. */
function refuseHalfTls({ tlsCertFile, tlsKeyFile }: Settings): void {
  if ((tlsCertFile === null) === (tlsKeyFile === null)) return
  const [set, missing] = tlsKeyFile === null ? ['TLS_CERT_FILE', 'TLS_KEY_FILE'] : ['TLS_KEY_FILE', 'TLS_CERT_FILE']
  throw new SettingsRefusal(`${set} is set and ${missing} is not: TLS needs both`)
}

/** With one of them alone other keys than those that were meant would be found. */
function refuseHalfKeys({ awsAccessKeyId, awsSecretAccessKey }: Settings): void {
  if ((awsAccessKeyId === null) === (awsSecretAccessKey === null)) return
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
  const [set, missing] = awsAccessKeyId === null ? names.toReversed() : names
  throw new SettingsRefusal(`${set} is set and ${missing} is not: object storage needs both`)
}

function isSetting(key: string): boolean {
  return Object.hasOwn(SETTINGS, key) || SECRET_FILE_SETTINGS.has(key)
}

const KNOWN_NAMES: readonly string[] = [...SETTING_NAMES, ...SECRET_FILE_SETTINGS.keys()]

/** Shorter names are too close to other programs' variables to call a near miss a mistake. */
const SHORTEST_GUESSED_NAME = 8

function nearest(key: string): string | null {
  if (key.length < SHORTEST_GUESSED_NAME) return null
  const near = KNOWN_NAMES.filter((name) => name.length >= SHORTEST_GUESSED_NAME && distance(name, key) <= 2)
  return near.sort((a, b) => distance(a, key) - distance(b, key))[0] ?? null
}

function suggestion(key: string): string {
  const name = nearest(key)
  return name === null ? '' : `; did you mean ${name}?`
}

function parseAll(env: NodeJS.ProcessEnv, file: Record<string, string>, configFile: string): SettingValues {
  const values: Record<string, unknown> = {}
  for (const name of SETTING_NAMES) {
    const { value, where } = given(name, env, '') ?? given(name, file, ` in ${configFile}`) ?? { where: '' }
    const parsed = SETTINGS[name].safeParse(value)
    if (!parsed.success) {
      throw new SettingsRefusal(`${name}${where} ${parsed.error.issues[0]?.message ?? 'is malformed'}`)
    }
    values[name] = parsed.data
  }
  return values as SettingValues
}

/** What one place, the environment or the env file, gives for a setting: the value itself, or of a secret the name of its file. */
function given(
  name: SettingName,
  place: Readonly<Record<string, string | undefined>>,
  where: string,
): { value: string; where: string } | null {
  const value = place[name]
  const path = SECRET_SETTINGS.has(name) ? place[`${name}_FILE`] : undefined
  if (!path) return value ? { value, where } : null
  if (value) throw new SettingsRefusal(`${name} and ${name}_FILE are both set${where}: leave one out`)
  return { value: readSecretFile(`${name}_FILE`, path), where: ` in ${path}` }
}

function withDerived(v: SettingValues, configFile: string, tracing: Settings['tracing'], region: string): Settings {
  const apiBaseUrl =
    v.API_BASE_URL ?? `${v.TLS_CERT_FILE === undefined ? 'http' : 'https'}://${reachableHost(v.API_HOST)}:${v.API_PORT}`
  const sliceOutputRoot = v.SLICE_OUTPUT_ROOT ?? resolve(v.DATA_DIR, 'layers')
  return {
    configFile,
    apiHost: v.API_HOST,
    apiPort: v.API_PORT,
    controlHost: v.CONTROL_HOST,
    controlPort: v.CONTROL_PORT,
    apiBaseUrl,
    tilePublicBaseUrl: v.TILE_PUBLIC_BASE_URL ?? apiBaseUrl,
    vectorPublicBaseUrl: v.VECTOR_PUBLIC_BASE_URL ?? apiBaseUrl,
    adminUser: v.ADMIN_USER ?? DEFAULT_ADMIN_USER,
    adminPassword: v.ADMIN_PASSWORD ?? null,
    adminToken: v.ADMIN_TOKEN ?? null,
    oidcIssuer: v.OIDC_ISSUER ?? null,
    oidcClientId: v.OIDC_CLIENT_ID ?? null,
    oidcClientSecret: v.OIDC_CLIENT_SECRET ?? null,
    oidcRoleClaim: v.OIDC_ROLE_CLAIM,
    oidcRoles: v.OIDC_ROLES,
    sessionTtlSeconds: v.SESSION_TTL,
    sessionIdleSeconds: v.SESSION_IDLE,
    adminAllowRemote: v.ADMIN_ALLOW_REMOTE,
    adminHosts: v.ADMIN_HOSTS,
    trustedProxies: v.TRUSTED_PROXIES,
    tokenDefaultTtlSeconds: v.TOKEN_DEFAULT_TTL,
    tokenStaleSeconds: v.TOKEN_STALE_SECONDS,
    tokenOfflineSeconds: v.TOKEN_OFFLINE_SECONDS,
    databaseUrl: v.DATABASE_URL ?? null,
    databaseReadUrl: v.DATABASE_READ_URL ?? null,
    redisUrl: v.REDIS_URL ?? null,
    dataDir: v.DATA_DIR,
    edgeWorkers: v.EDGE_WORKERS,
    drainNoticeSeconds: v.DRAIN_NOTICE_SECONDS,
    drainSeconds: v.DRAIN_SECONDS,
    keepAliveSeconds: v.KEEP_ALIVE_SECONDS,
    tlsCertFile: v.TLS_CERT_FILE ?? null,
    tlsKeyFile: v.TLS_KEY_FILE ?? null,
    nativeTier: v.NATIVE_TIER,
    tileMemoryBytes: v.TILE_MEMORY,
    tileCacheDir: v.TILE_CACHE_DIR ?? resolve(v.DATA_DIR, 'cache', 'tiles'),
    tileCacheBytes: v.TILE_CACHE_BYTES,
    derivedBytes: v.DERIVED_BYTES,
    basemapRoots: v.BASEMAP_ROOTS,
    vectorRoots: v.VECTOR_ROOTS,
    styleRoots: v.STYLE_ROOTS,
    sliceOutputRoot,
    vectorTiles: v.VECTOR_TILES,
    vectorBuildRoot: v.VECTOR_BUILD_ROOT ?? resolve(v.DATA_DIR, 'vector-builds'),
    vectorBuildMemory: v.VECTOR_BUILD_MEMORY,
    sliceWorkRoot: sliceOutputRoot.startsWith('s3://') ? resolve(v.DATA_DIR, 'slice-work') : sliceOutputRoot,
    sliceSourceRoots: v.SLICE_SOURCE_ROOTS,
    sliceFetchMaxBytes: v.SLICE_FETCH_MAX_BYTES,
    tilerCommand: v.TILER_COMMAND ?? null,
    callbackAllow: v.CALLBACK_ALLOW,
    callbackDeny: v.CALLBACK_DENY,
    auditHeadTarget: v.AUDIT_HEAD_TARGET ?? null,
    smtpUrl: v.SMTP_URL ?? null,
    smtpFrom: v.SMTP_FROM ?? null,
    retryWaitsSeconds: v.RETRY_WAITS,
    jobRetentionDays: v.JOB_RETENTION_DAYS,
    usageDays: v.USAGE_DAYS,
    tokenAddresses: v.TOKEN_ADDRESSES,
    importToken: v.IMPORT_TOKEN ?? null,
    importMaxBytes: v.IMPORT_MAX_BYTES,
    exportMaxBytes: v.EXPORT_MAX_BYTES,
    exportRetentionDays: v.EXPORT_RETENTION_DAYS,
    s3Endpoint: v.S3_ENDPOINT ?? null,
    s3Region: v.S3_REGION ?? region,
    s3ForcePathStyle: v.S3_FORCE_PATH_STYLE ?? v.S3_ENDPOINT !== undefined,
    awsAccessKeyId: v.AWS_ACCESS_KEY_ID ?? null,
    awsSecretAccessKey: v.AWS_SECRET_ACCESS_KEY ?? null,
    awsSessionToken: v.AWS_SESSION_TOKEN ?? null,
    tileCacheControl: v.TILE_CACHE_CONTROL ?? null,
    currentCacheControl: v.CURRENT_CACHE_CONTROL ?? v.TILE_CACHE_CONTROL ?? null,
    missingTileTtlSeconds: v.MISSING_TILE_TTL,
    canaryToleranceShare: v.CANARY_TOLERANCE / 100,
    demo: v.DEMO,
    accessLogEvery: v.ACCESS_LOG_EVERY,
    tracing,
    logLevel: v.LOG_LEVEL,
  }
}

/** As AWS's own tools have it. */
function regionOf(env: NodeJS.ProcessEnv): string {
  return env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1'
}

/** For how long an edge that reaches neither store nor bus goes on with the tokens that it knows, in seconds. */
export function trustSeconds({ tokenOfflineSeconds, tokenStaleSeconds }: Settings): number {
  return Math.max(tokenOfflineSeconds, tokenStaleSeconds)
}

/** The host by which a process on this machine reaches a listener: the loopback address where it listens on all of them. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '*') return '127.0.0.1'
  if (host === '::' || host === '[::]') return '[::1]'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Where a process on this machine reaches the edge. */
export function edgeUrl({ apiHost, apiPort, tlsCertFile }: Settings): string {
  return `${tlsCertFile === null ? 'http' : 'https'}://${reachableHost(apiHost)}:${apiPort}`
}

/** Where the edge, and everyone else, reaches the control plane. */
export function controlPlaneUrl(settings: Settings): string {
  return `http://${reachableHost(settings.controlHost)}:${settings.controlPort}`
}
