import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { SettingsRefusal } from './refusal.js'

/** The variables of an env file; an absent file has none. Throws SettingsRefusal for a file that is there but cannot be read. */
export function readEnvFile(path: string): Record<string, string> {
  try {
    return parse(readFileSync(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new SettingsRefusal(`CONFIG_FILE ${path} cannot be read: ${(error as Error).message}`)
  }
}
