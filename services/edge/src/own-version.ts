import { readFileSync } from 'node:fs'

const FILE = new URL('../package.json', import.meta.url)

/** Read once, at the start: later a descriptor to open it may be missing. */
const version = (JSON.parse(readFileSync(FILE, 'utf8')) as { version: string }).version

/** Of the edge, as in its package.json. */
export function ownVersion(): string {
  return version
}
