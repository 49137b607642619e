import { statSync } from 'node:fs'
import { hasAdminCredentials } from '@gateway/core/settings/guard.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { settingWarnings } from '@gateway/core/settings/warnings.js'
import { type Finding, ok, warn } from '../finding.js'
import type { Installation } from '../installation.js'

const PERMISSIONS = 0o777
const OTHERS = 0o077

export async function checkSettings(settings: Settings, { controlPlane }: Installation): Promise<readonly Finding[]> {
  // An edge without a control plane slices nothing, so these settings do not matter.
  const warnings = (controlPlane ? settingWarnings(settings) : []).map(({ finding, advice }) =>
    warn('settings', finding, advice),
  )
  return [...checkFile(settings), ...warnings]
}

function checkFile(settings: Settings): readonly Finding[] {
  const { configFile } = settings
  const file = statSync(configFile, { throwIfNoEntry: false })
  if (file === undefined) return [ok('settings', `accepted; there is no ${configFile}`)]
  const accepted = ok('settings', `accepted, with ${configFile}`)
  const mode = file.mode & PERMISSIONS
  if ((mode & OTHERS) === 0 || !hasAdminCredentials(settings)) return [accepted]
  return [
    accepted,
    warn('settings', `${configFile} may be read by others (mode ${mode.toString(8)})`, `chmod 600 ${configFile}`),
  ]
}
