import type { Settings } from '@gateway/core/settings/load.js'
import { type Finding, fault, ok, warn } from '../finding.js'
import type { Installation } from '../installation.js'

/** Tries the server binary and the addon in the same way as an edge at its start. */
export async function checkNativeTier(settings: Settings, installation: Installation): Promise<readonly Finding[]> {
  if (!installation.edge) return []
  const about = 'native tier'
  // The image of the control plane does not contain it.
  const { tryNativeTier } = await import('@gateway/native-edge/try-native-tier.js')
  const tried = await tryNativeTier(settings.nativeTier)
  if (typeof tried === 'string') return [fault(about, tried, 'install a Node and a system for which it has one')]
  if (tried.tier === 'native') return [ok(about, `works (${tried.reason})`)]
  if (settings.nativeTier === 'off') return [ok(about, 'NATIVE_TIER=off: files are copied')]
  return [
    warn(
      about,
      `not used (${tried.reason}): tiles and files cost more than they need`,
      'install g++, make and python3 and run npm run setup, or use a proven binary; NATIVE_TIER=off accepts it',
    ),
  ]
}
