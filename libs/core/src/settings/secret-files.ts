import { readFileSync, statSync } from 'node:fs'
import { SettingsRefusal } from './refusal.js'
import { SECRET_SETTINGS, type SettingName } from './schema.js'

/** Settings such as `DATABASE_URL_FILE`, each with the setting that it gives. They name a file with the secret, as Docker and Kubernetes mount it. */
export const SECRET_FILE_SETTINGS: ReadonlyMap<string, SettingName> = new Map(
  [...SECRET_SETTINGS].map((name) => [`${name}_FILE`, name]),
)

/** Maximum size of a secret. A path such as /dev/zero must not fill the memory. */
const MOST_BYTES = 65_536

/**
 * Reads the secret from the file that `fileSetting` names, without line ends behind it. Throws SettingsRefusal, without any of the content, if the
 * file cannot be read, is not a regular file, is larger than 64 KiB, or is empty: an empty secret means a failed mount, not a missing setting.
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
