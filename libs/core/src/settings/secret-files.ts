import { readFileSync, statSync } from 'node:fs'
import { SettingsRefusal } from './refusal.js'
import { SECRET_SETTINGS, type SettingName } from './schema.js'

/** `DATABASE_URL_FILE` and the like name a file that holds the secret, as Docker and Kubernetes mount it. By name, with the setting it gives. */
export const SECRET_FILE_SETTINGS: ReadonlyMap<string, SettingName> = new Map(
  [...SECRET_SETTINGS].map((name) => [`${name}_FILE`, name]),
)

/** Limit: more than any secret takes, and a path such as /dev/zero must not fill the memory. */
const MOST_BYTES = 65_536

/**
 * The secret in the file that `fileSetting` names, without line ends behind it. Throws SettingsRefusal, without any of the content, where the
 * file cannot be read, is no regular file, is larger than 64 KiB, or is empty: an empty secret is a mount that failed, not a missing setting.
 */
export function readSecretFile(fileSetting: string, path: string): string {
  const content = withoutLastLineEnds(readBounded(fileSetting, path))
  if (content === '') throw new SettingsRefusal(`${fileSetting} names an empty file, ${path}`)
  return content
}

function readBounded(fileSetting: string, path: string): string {
  try {
    const stat = statSync(path)
    if (stat.isFile() && stat.size <= MOST_BYTES) return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsRefusal(`${fileSetting} names a file that cannot be read: ${(error as Error).message}`)
  }
  throw new SettingsRefusal(`${fileSetting} must name a file of at most ${MOST_BYTES} bytes, and ${path} is not`)
}

function withoutLastLineEnds(content: string): string {
  let end = content.length
  while (content[end - 1] === '\n' || content[end - 1] === '\r') end--
  return content.slice(0, end)
}
