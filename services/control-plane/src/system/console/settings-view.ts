import { type SettingView, settingsViewSchema } from '@gateway/contracts/console.js'
import { fieldOf, loadSettings, type Settings } from '@gateway/core/settings/load.js'
import { type RoleGrant, SECRET_SETTINGS, SETTING_GROUPS, type SettingName } from '@gateway/core/settings/schema.js'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'

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
  const grouped = Object.entries(SETTING_GROUPS).flatMap(([group, ofGroup]) =>
    (Object.keys(ofGroup) as SettingName[]).map((name) => ({ group, name })),
  )
  return grouped.map(({ group, name }) => {
    const secret = SECRET_SETTINGS.has(name)
    const value = settings[fieldOf(name)]
    const isDefault = JSON.stringify(value) === JSON.stringify(defaults[fieldOf(name)])
    const shown = value !== null && typeof value === 'object' ? value.map(shownEntry) : value
    return {
      name,
      group,
      value: secret ? null : shown,
      secret,
      is_set: value !== null,
      is_default: isDefault,
    }
  })
}
