import { SETTING_NAMES } from '@gateway/core/settings/schema.js'
import { MARK_VARIABLE } from './processes.js'

/** Settings as a test writes them. */
export type TestSettings = Readonly<Record<string, string>>

/** This process's environment without any setting of the gateway that a developer may have exported, with those of the test. */
export function environment(mark: string, settings: TestSettings): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !(SETTING_NAMES as readonly string[]).includes(name) && !name.startsWith('VITEST') && name !== 'NODE_ENV',
  )
  return { ...Object.fromEntries(inherited), [MARK_VARIABLE]: mark, ...settings }
}
