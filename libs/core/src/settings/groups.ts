import type { SettingName } from './schema.js'

/** The groups of settings, in the order of the settings page and the console. Every setting is in one group. */
export const SETTING_GROUPS = {
  addresses: [
    'API_HOST',
    'API_PORT',
    'CONTROL_HOST',
    'CONTROL_PORT',
    'API_BASE_URL',
    'TILE_PUBLIC_BASE_URL',
    'VECTOR_PUBLIC_BASE_URL',
    'PROVIDER_NAME',
    'PROVIDER_SITE',
    'TRUSTED_PROXIES',
    'TLS_CERT_FILE',
    'TLS_KEY_FILE',
  ],
  administration: ['ADMIN_USER', 'ADMIN_PASSWORD', 'ADMIN_TOKEN', 'ADMIN_ALLOW_REMOTE', 'ADMIN_HOSTS'],
  operators: [
    'OIDC_ISSUER',
    'OIDC_CLIENT_ID',
    'OIDC_CLIENT_SECRET',
    'OIDC_ROLE_CLAIM',
    'OIDC_ROLES',
    'SESSION_TTL',
    'SESSION_IDLE',
  ],
  tokens: ['TOKEN_DEFAULT_TTL', 'TOKEN_STALE_SECONDS', 'TOKEN_OFFLINE_SECONDS', 'TOKEN_ADDRESSES'],
  store: ['DATABASE_URL', 'DATABASE_READ_URL', 'REDIS_URL', 'DATA_DIR'],
  sources: ['BASEMAP_ROOTS', 'VECTOR_ROOTS', 'STYLE_ROOTS', 'DEMO'],
  pictures: ['RENDERING', 'CHROMIUM_PATH', 'RENDER_HOSTS'],
  vectors: ['VECTOR_TILES', 'VECTOR_BUILD_ROOT', 'VECTOR_BUILD_MEMORY'],
  objectStorage: [
    'S3_ENDPOINT',
    'S3_REGION',
    'S3_FORCE_PATH_STYLE',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
  ],
  tiles: [
    'TILE_MEMORY',
    'TILE_CACHE_DIR',
    'TILE_CACHE_BYTES',
    'DERIVED_BYTES',
    'TILE_CACHE_CONTROL',
    'CURRENT_CACHE_CONTROL',
    'MISSING_TILE_TTL',
    'CANARY_TOLERANCE',
  ],
  slicing: ['SLICE_OUTPUT_ROOT', 'SLICE_SOURCE_ROOTS', 'SLICE_FETCH_MAX_BYTES', 'TILER_COMMAND', 'JOB_RETENTION_DAYS'],
  deliveries: [
    'CALLBACK_ALLOW',
    'CALLBACK_DENY',
    'UPSTREAM_ALLOW',
    'UPSTREAM_DENY',
    'SMTP_URL',
    'SMTP_FROM',
    'AUDIT_HEAD_TARGET',
    'RETRY_WAITS',
    'IMPORT_TOKEN',
    'IMPORT_MAX_BYTES',
    'EXPORT_MAX_BYTES',
    'EXPORT_RETENTION_DAYS',
  ],
  processes: ['EDGE_WORKERS', 'NATIVE_TIER', 'KEEP_ALIVE_SECONDS', 'DRAIN_NOTICE_SECONDS', 'DRAIN_SECONDS'],
  observing: ['LOG_LEVEL', 'ACCESS_LOG_EVERY', 'USAGE_DAYS'],
} as const satisfies Readonly<Record<string, readonly SettingName[]>>

export type SettingGroup = keyof typeof SETTING_GROUPS

/** Returns the group of a setting. */
export function groupOf(name: SettingName): SettingGroup {
  const found = Object.entries(SETTING_GROUPS).find(([, names]) => (names as readonly string[]).includes(name))
  if (found === undefined) throw new Error(`${name} is in no group of settings`)
  return found[0] as SettingGroup
}
