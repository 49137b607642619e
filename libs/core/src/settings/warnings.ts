import { isLoopbackHost } from './guard.js'
import type { Settings } from './load.js'

/** A setting that is accepted, with a consequence that the operator should know. */
export interface SettingWarning {
  /** stable */
  readonly code: string
  readonly finding: string
  readonly advice: string
}

type Judged = Pick<Settings, 'apiHost' | 'controlHost' | 'sliceSourceRoots'>

/** Pure. */
export function settingWarnings({ apiHost, controlHost, sliceSourceRoots }: Judged): readonly SettingWarning[] {
  const open = [
    ['API_HOST', apiHost],
    ['CONTROL_HOST', controlHost],
  ].find(([, host]) => !isLoopbackHost(host as string))
  if (open === undefined || sliceSourceRoots.length > 0) return []
  return [
    {
      code: 'slice_sources_open',
      finding:
        `SLICE_SOURCE_ROOTS is not set and ${open.join('=')}: anyone who has a token with the scope slice can slice every image that the service ` +
        'can read',
      advice: 'set SLICE_SOURCE_ROOTS to the directories of your images',
    },
  ]
}
