import { readFileSync } from 'node:fs'

const FILE = new URL('../package.json', import.meta.url)

/** Read once, at the start, because later no descriptor may be left to open the file. */
const version = (JSON.parse(readFileSync(FILE, 'utf8')) as { version: string }).version

/** Returns the version of the edge from its package.json. */
export function ownVersion(): string {
  return version
}
