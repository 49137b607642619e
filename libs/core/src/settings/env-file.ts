import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { SettingsRefusal } from './refusal.js'

/** Reads the variables of an env file. An absent file has no variables. Throws SettingsRefusal if an existing file cannot be read. */
export function readEnvFile(path: string): Record<string, string> {
  const variables: Record<string, string> = {}
  let others = ''
  for (const line of textOf(path).split('\n')) {
    const [beginning = '', name = ''] = /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=/.exec(line) ?? []
    const value = name === '' ? null : singleQuoted(line.slice(beginning.length))
    if (value === null) others += `${line}\n`
    else {
      Object.assign(variables, parse(others), { [name]: value })
      others = ''
    }
  }
  return Object.assign(variables, parse(others))
}

/** Returns the value that a shell reads from single quotes, with `\'` between them for a quote (POSIX.1-2017, 2.2); null for other forms. */
function singleQuoted(text: string): string | null {
  if (text[0] !== "'") return null
  let value = ''
  let at = 0
  while (text[at] === "'" || text.startsWith("\\'", at)) {
    const end = text[at] === "'" ? text.indexOf("'", at + 1) : at + 1
    if (end < 0) return null
    value += text[at] === "'" ? text.slice(at + 1, end) : "'"
    at = end + 1
  }
  const [blanks = '', next] = [/^\s*/.exec(text.slice(at))?.[0], text.slice(at).trimStart()[0]]
  return next === undefined || (next === '#' && blanks !== '') ? value : null
}

/** Values that shells and readers of env files leave unchanged. */
const PLAIN_VALUE = /^[\w./:@%+,=-]+$/

/** Formats a line that this reader and a POSIX shell (`. config/service.env`) read alike. `value` must not contain a line break. */
export function envLine(name: string, value: string): string {
  return `${name}=${PLAIN_VALUE.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}\n`
}

/** Returns the first words of lines that assign no value to a variable. The parser skips such lines. */
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
      `CONFIG_FILE ${path} cannot be read: ${(error as Error).message}; let this user read it, or name another file`,
    )
  }
}
