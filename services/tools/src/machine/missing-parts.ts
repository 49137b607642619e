import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { childEnvironment } from '@gateway/core/settings/child-environment.js'

/** Programs of the system that the gateway runs without, and what it lacks then. The package of each has its name. */
const OPTIONAL = [
  {
    name: 'a compiler',
    gives: 'the native tier',
    programs: ['g++', 'make', 'python3'],
    packages: ['g++', 'make', 'python3'],
  },
  { name: 'GDAL', gives: 'further formats', programs: ['ogr2ogr'], packages: ['gdal-bin'] },
  { name: 'Chromium', gives: 'pictures of styles', programs: ['chromium'], packages: ['chromium'] },
] as const

/** Parts that are missing on this machine, in one line, and the command that brings all of them. */
export interface Missing {
  readonly finding: string
  readonly command: string
}

/** The compiled addon, which needs no compiler any more. Its package is found from a bundle too. */
function addonFile(): string {
  const module = createRequire(import.meta.url).resolve('@gateway/native-edge/try-native-tier.js')
  return join(dirname(module), '../build/Release/native-edge.node')
}

/** Returns null if nothing is missing. @param path as in PATH */
export function missingParts(path = childEnvironment({}).PATH ?? '', addon = addonFile()): Missing | null {
  const isHere = (program: string) => path.split(delimiter).some((folder) => existsSync(join(folder, program)))
  const missing = OPTIONAL.filter(({ programs }) => !programs.every(isHere)).filter(
    ({ name }) => name !== 'a compiler' || !existsSync(addon),
  )
  if (missing.length === 0) return null
  const packages = missing.flatMap((part) => part.packages)
  return {
    finding: missing.map(({ name, gives }) => `${name} (${gives})`).join(', '),
    command: `apt-get install ${packages.join(' ')}`,
  }
}
