import { type SettingView, settingsViewSchema } from '@gateway/contracts/console.js'
import type { Settings } from '@gateway/settings/load.js'
import { SECRET_SETTINGS, SETTING_NAMES, type SettingName } from '@gateway/settings/schema.js'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'

type Value = SettingView['value'] | readonly (string | number)[]

/** What is in force under each name, after defaults. */
const VALUES: Readonly<Record<SettingName, (settings: Settings) => Value>> = {
  API_HOST: (s) => s.apiHost,
  API_PORT: (s) => s.apiPort,
  CONTROL_HOST: (s) => s.controlHost,
  CONTROL_PORT: (s) => s.controlPort,
  API_BASE_URL: (s) => s.apiBaseUrl,
  TILE_PUBLIC_BASE_URL: (s) => s.tilePublicBaseUrl,
  VECTOR_PUBLIC_BASE_URL: (s) => s.vectorPublicBaseUrl,
  ADMIN_USER: (s) => s.adminUser,
  ADMIN_PASSWORD: (s) => s.adminPassword,
  ADMIN_TOKEN: (s) => s.adminToken,
  ADMIN_ALLOW_REMOTE: (s) => s.adminAllowRemote,
  ADMIN_HOSTS: (s) => s.adminHosts,
  TRUSTED_PROXIES: (s) => s.trustedProxies,
  TOKEN_DEFAULT_TTL: (s) => s.tokenDefaultTtlSeconds,
  TOKEN_STALE_SECONDS: (s) => s.tokenStaleSeconds,
  TOKEN_OFFLINE_SECONDS: (s) => s.tokenOfflineSeconds,
  DATABASE_URL: (s) => s.databaseUrl,
  REDIS_URL: (s) => s.redisUrl,
  DATA_DIR: (s) => s.dataDir,
  EDGE_WORKERS: (s) => s.edgeWorkers,
  DRAIN_SECONDS: (s) => s.drainSeconds,
  BASEMAP_ROOTS: (s) => s.basemapRoots,
  VECTOR_ROOTS: (s) => s.vectorRoots,
  SLICE_OUTPUT_ROOT: (s) => s.sliceOutputRoot,
  SLICE_SOURCE_ROOTS: (s) => s.sliceSourceRoots,
  TILER_COMMAND: (s) => s.tilerCommand,
  CALLBACK_ALLOW: (s) => s.callbackAllow,
  CALLBACK_DENY: (s) => s.callbackDeny,
  RETRY_WAITS: (s) => s.retryWaitsSeconds,
  IMPORT_TOKEN: (s) => s.importToken,
  IMPORT_MAX_BYTES: (s) => s.importMaxBytes,
  DEMO: (s) => s.demo,
  LOG_LEVEL: (s) => s.logLevel,
}

export function settingsRoute(app: App, { settings }: Pick<ControlContext, 'settings'>): void {
  app.get(
    '/api/v1/admin/settings',
    {
      schema: {
        summary: 'The settings in force',
        description: 'Those of the answering control plane. Read-only, and without the value of any secret.',
        response: { 200: settingsViewSchema },
      },
    },
    () => {
      const items = viewSettings(settings)
      return { config_file: settings.configFile, items, total: items.length }
    },
  )
}

export function viewSettings(settings: Settings): SettingView[] {
  return SETTING_NAMES.map((name) => {
    const secret = SECRET_SETTINGS.has(name)
    const value = VALUES[name](settings)
    const shown = value !== null && typeof value === 'object' ? [...value] : value
    return { name, value: secret ? null : shown, secret, is_set: value !== null }
  })
}
