import { type SettingView, settingsViewSchema } from '@gateway/contracts/console.js'
import { groupOf, SETTING_GROUPS } from '@gateway/core/settings/groups.js'
import { loadSettings, type Settings } from '@gateway/core/settings/load.js'
import { type RoleGrant, SECRET_SETTINGS, type SettingName } from '@gateway/core/settings/schema.js'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'

/** Maps `API_PORT` to `apiPort`, its field among the current settings. */
type FieldOf<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<FieldOf<Rest>>}`
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

type NameWithUnit = keyof typeof FIELDS_WITH_UNIT
const hasUnit = (name: SettingName): name is NameWithUnit => Object.hasOwn(FIELDS_WITH_UNIT, name)

function fieldOf(name: SettingName): keyof Settings {
  if (hasUnit(name)) return FIELDS_WITH_UNIT[name]
  const field = name.toLowerCase().replace(/_(.)/g, (_, first: string) => first.toUpperCase())
  return field as FieldOf<typeof name>
}

const NO_FILE = '/dev/null'

export function settingsRoute(app: App, { settings }: Pick<ControlContext, 'settings'>): void {
  app.get(
    '/api/v1/admin/settings',
    {
      schema: {
        operationId: 'getSettings',
        summary: 'Get the settings in force',
        description:
          'Returns the settings of the answering control plane, read-only and without the value of any secret.',
        response: { 200: settingsViewSchema },
      },
    },
    () => {
      const items = viewSettings(settings)
      return { config_file: settings.configFile, items, total: items.length }
    },
  )
}

const shownEntry = (entry: string | number | RoleGrant): string | number =>
  typeof entry === 'object' ? `${entry.role}=${entry.value}` : entry

export function viewSettings(settings: Settings): SettingView[] {
  const defaults = loadSettings({ CONFIG_FILE: NO_FILE })
  const names = Object.values(SETTING_GROUPS).flat()
  return names.map((name) => {
    const secret = SECRET_SETTINGS.has(name)
    const value = settings[fieldOf(name)]
    const isDefault = JSON.stringify(value) === JSON.stringify(defaults[fieldOf(name)])
    const shown = value !== null && typeof value === 'object' ? value.map(shownEntry) : value
    return {
      name,
      group: groupOf(name),
      value: secret ? null : shown,
      secret,
      is_set: value !== null,
      is_default: isDefault,
    }
  })
}
