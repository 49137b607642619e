import { resolve } from 'node:path'
import { distance } from 'fastest-levenshtein'
import { linesWithoutValue, readEnvFile } from './env-file.js'
import { guardStart } from './guard.js'
import { SettingsRefusal } from './refusal.js'
import { SECRET_SETTINGS, SETTING_NAMES, SETTINGS, type SettingName, type SettingValues } from './schema.js'
import { readSecretFile, SECRET_FILE_SETTINGS } from './secret-files.js'
import { type TracingProtocol, tracingProtocol } from './tracing.js'

const DEFAULT_CONFIG_FILE = 'config/service.env'

/** The settings of all processes, after defaults. URLs have no trailing slash, paths are absolute, and durations are in seconds. */
export interface Settings extends Readonly<ReturnType<typeof withDerived>> {}

/** User name of the console if only a password is configured. */
const DEFAULT_ADMIN_USER = 'admin'

/**
 * Reads the settings: first the environment, then the env file that CONFIG_FILE names, then defaults.
 * Throws SettingsRefusal, with one line that names the setting, for an unknown or malformed setting, and if the startup guard forbids the start.
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
  // The environment is full of other programs' variables, so only a near miss of a setting's name counts as a mistake.
  for (const key of Object.keys(env)) {
    if (key !== 'CONFIG_FILE' && !isSetting(key) && nearest(key) !== null) {
      throw new SettingsRefusal(`${key} in the environment is not a setting${suggestion(key)}`)
    }
  }
}

/** Refuses lines such as `API_PORT 9000`. If they were skipped, the default would silently stay in force. */
function refuseWithoutValue(configFile: string): void {
  const name = linesWithoutValue(configFile).find((key) => isSetting(key) || nearest(key) !== null)
  if (name !== undefined) throw new SettingsRefusal(`${name} in ${configFile} has no value: write ${name}=...`)
}

/** Refuses a certificate without a key, and the reverse. The edge would silently serve plain HTTP. */
function refuseHalfTls({ tlsCertFile, tlsKeyFile }: Settings): void {
  if ((tlsCertFile === null) === (tlsKeyFile === null)) return
  const [set, missing] = tlsKeyFile === null ? ['TLS_CERT_FILE', 'TLS_KEY_FILE'] : ['TLS_KEY_FILE', 'TLS_CERT_FILE']
  throw new SettingsRefusal(`${set} is set and ${missing} is not: TLS needs both`)
}

/** Refuses one key without the other, since the AWS SDK would then look up different keys. */
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

/** Shorter names are so similar to other programs' variables that a near miss is not a mistake. */
const SHORTEST_GUESSED_NAME = 8

/** Maximum number of changed, missing and additional letters of a near miss. */
const MISTYPED_LETTERS = 2

function nearest(key: string): string | null {
  if (key.length < SHORTEST_GUESSED_NAME) return null
  const isNear = (name: string) =>
    name.length >= SHORTEST_GUESSED_NAME &&
    // Compares the lengths first: the distances to all variables of an environment take milliseconds at each start.
    Math.abs(name.length - key.length) <= MISTYPED_LETTERS &&
    distance(name, key) <= MISTYPED_LETTERS
  const near = KNOWN_NAMES.filter(isNear)
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

/** Returns the value that one place, the environment or the env file, has for a setting: the value itself, or for a secret the name of its file. */
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

/** Maps `API_PORT` to `apiPort`, its field among the settings. */
type FieldOf<Name extends string> = Name extends keyof typeof FIELDS_WITH_UNIT
  ? (typeof FIELDS_WITH_UNIT)[Name]
  : InCamelCase<Name>
type InCamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<InCamelCase<Rest>>}`
  : Lowercase<Name>

/** Settings whose field name contains a unit. */
const FIELDS_WITH_UNIT = {
  TOKEN_DEFAULT_TTL: 'tokenDefaultTtlSeconds',
  RETRY_WAITS: 'retryWaitsSeconds',
  MISSING_TILE_TTL: 'missingTileTtlSeconds',
  CANARY_TOLERANCE: 'canaryToleranceShare',
  TILE_MEMORY: 'tileMemoryBytes',
  SESSION_TTL: 'sessionTtlSeconds',
  SESSION_IDLE: 'sessionIdleSeconds',
} as const

/** Returns the field of a setting. */
export function fieldOf<Name extends SettingName>(name: Name): FieldOf<Name> {
  const inCamelCase = () => name.toLowerCase().replace(/_(.)/g, (_, first: string) => first.toUpperCase())
  return ((FIELDS_WITH_UNIT as Partial<Record<string, string>>)[name] ?? inCamelCase()) as FieldOf<Name>
}

type OrNull<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value
/** The values by their fields; null: the setting is not set and has no default. */
type Fields = { [Name in SettingName as FieldOf<Name>]: OrNull<SettingValues[Name]> }

function withDerived(v: SettingValues, configFile: string, tracing: TracingProtocol | null, region: string) {
  const apiBaseUrl =
    v.API_BASE_URL ?? `${v.TLS_CERT_FILE === undefined ? 'http' : 'https'}://${reachableHost(v.API_HOST)}:${v.API_PORT}`
  const sliceOutputRoot = v.SLICE_OUTPUT_ROOT ?? resolve(v.DATA_DIR, 'layers')
  return {
    ...(Object.fromEntries(SETTING_NAMES.map((name) => [fieldOf(name), v[name] ?? null])) as Fields),
    configFile,
    apiBaseUrl,
    tilePublicBaseUrl: v.TILE_PUBLIC_BASE_URL ?? apiBaseUrl,
    vectorPublicBaseUrl: v.VECTOR_PUBLIC_BASE_URL ?? apiBaseUrl,
    adminUser: v.ADMIN_USER ?? DEFAULT_ADMIN_USER,
    tileCacheDir: v.TILE_CACHE_DIR ?? resolve(v.DATA_DIR, 'cache', 'tiles'),
    /** a directory, or `s3://bucket/prefix` */
    sliceOutputRoot,
    /** directory in which layers are built: `sliceOutputRoot`, unless that is a bucket */
    sliceWorkRoot: sliceOutputRoot.startsWith('s3://') ? resolve(v.DATA_DIR, 'slice-work') : sliceOutputRoot,
    /** directory of the files built from vectors, shared by control planes and edges */
    vectorBuildRoot: v.VECTOR_BUILD_ROOT ?? resolve(v.DATA_DIR, 'vector-builds'),
    s3Region: v.S3_REGION ?? region,
    s3ForcePathStyle: v.S3_FORCE_PATH_STYLE ?? v.S3_ENDPOINT !== undefined,
    currentCacheControl: v.CURRENT_CACHE_CONTROL ?? v.TILE_CACHE_CONTROL ?? null,
    /** share of requests by which a canary may be worse than the previous version; 0 to 1 */
    canaryToleranceShare: v.CANARY_TOLERANCE / 100,
    /** encoding of exported traces, from the standard variables of OpenTelemetry; null: traces are not exported */
    tracing,
  }
}

/** Resolves the region in the same way as AWS's own tools. */
function regionOf(env: NodeJS.ProcessEnv): string {
  return env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1'
}

/** Time in seconds for which an edge that reaches neither the store nor the bus accepts the tokens that it knows. */
export function trustSeconds({ tokenOfflineSeconds, tokenStaleSeconds }: Settings): number {
  return Math.max(tokenOfflineSeconds, tokenStaleSeconds)
}

/** Returns the host by which a process on this machine reaches a listener: the loopback address if the listener binds all addresses. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '*') return '127.0.0.1'
  if (host === '::' || host === '[::]') return '[::1]'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Returns the URL by which a process on this machine reaches the edge. */
export function edgeUrl({ apiHost, apiPort, tlsCertFile }: Settings): string {
  return `${tlsCertFile === null ? 'http' : 'https'}://${reachableHost(apiHost)}:${apiPort}`
}

/** Returns the URL by which the edge and all other clients reach the control plane. */
export function controlPlaneUrl(settings: Settings): string {
  return `http://${reachableHost(settings.controlHost)}:${settings.controlPort}`
}
