import { SETTING_NAMES } from '@gateway/core/settings/schema.js'
import { MARK_VARIABLE } from './processes.js'

/** Settings as a test writes them. */
export type TestSettings = Readonly<Record<string, string>>

/** Returns this process's environment without settings of the gateway that a developer may have exported, plus those of the test. */
export function environment(mark: string, settings: TestSettings): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !(SETTING_NAMES as readonly string[]).includes(name) && !name.startsWith('VITEST') && name !== 'NODE_ENV',
  )
  return { ...Object.fromEntries(inherited), [MARK_VARIABLE]: mark, ...settings }
}
