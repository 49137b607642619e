import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { SettingsRefusal } from './refusal.js'

/** The variables of an env file; an absent file has none. Throws SettingsRefusal for a file that is there but cannot be read. */
export function readEnvFile(path: string): Record<string, string> {
  return parse(textOf(path))
}

/** The first words of lines that give no variable a value, and that the parser passes over. */
export function linesWithoutValue(path: string): string[] {
  return textOf(path)
    .split(/[\n\r]/)
    .map((line) => /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)(.*)$/s.exec(line))
    .filter((match) => match !== null && !/^(?:[ \t]*=|:[ \t])/.test(match[2] as string))
    .map((match) => match?.[1] as string)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new SettingsRefusal(
      `CONFIG_FILE ${path} cannot be read: ${(error as Error).message}; let this user read it, or name another`,
    )
  }
}
