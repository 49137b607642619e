import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import { assertBelow, clearStages, placeFiles, placeFolder, type Stage, stageIn } from './stage.js'

/** Where files are to appear below a directory that is laid out like a scan source. */
export interface Landing {
  /** the directory, which exists */
  readonly root: string
  /** `folder`: `place` is a directory of its own. `files`: they lie beside others in its parent directory. */
  readonly kind: 'folder' | 'files'
  /** relative, with forward slashes */
  readonly place: string
}

export interface PreparedLanding extends Landing {
  readonly stage: Stage
  /** absolute */
  readonly parent: string
}

/**
 * Makes the parent directories and a stage beside the place, and clears away what an earlier attempt of `id` left. Throws where the place
 * would lie outside of `root`. The stage's folder does not exist yet; the caller fills it, and removes it on failure.
 */
export async function prepareLanding(landing: Landing, id: string, turn: number): Promise<PreparedLanding> {
  const place = insideOf(landing.root, landing.place)
  const parent = path.dirname(place)
  await makeFolder(landing.root, parent)
  await clearStages(parent, id, place)
  return { ...landing, parent, stage: stageIn(parent, id, turn) }
}

/** Puts what was staged in its place, `names` in their order (relative to the stage), and removes what it supersedes. */
export async function land(landing: PreparedLanding, names: readonly string[]): Promise<void> {
  if (landing.kind === 'folder') await placeFolder(landing.stage, path.join(landing.root, landing.place))
  else await placeFiles(landing.stage, landing.parent, names)
  await removeSuperseded(landing, names)
}

/** What the receiver would otherwise take for the same data. */
async function removeSuperseded({ kind, place, parent }: PreparedLanding, names: readonly string[]): Promise<void> {
  const own = path.basename(place)
  for (const name of await readdir(parent)) {
    if (kind === 'folder' ? name === own : names.includes(name)) continue
    if (isSuperseded(kind, own, name)) await rm(path.join(parent, name), { recursive: true })
  }
}

function isSuperseded(kind: Landing['kind'], place: string, name: string): boolean {
  const base = place.replace(/\.[^.]+$/, '')
  if (place.endsWith('.shp')) return isPartOfShapefile(base, name)
  const version = /\.(mbtiles|pmtiles)$/.test(place) ? base : kind === 'folder' ? place : null
  return version !== null && [version, `${version}.mbtiles`, `${version}.pmtiles`].includes(name)
}

async function makeFolder(target: string, folder: string): Promise<void> {
  // Each on its own, so that none is made behind a link that leads elsewhere.
  let current = target
  for (const segment of path.relative(target, folder).split(path.sep).filter(Boolean)) {
    current = path.join(current, segment)
    await mkdir(current).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await assertBelow(target, current)
  }
}

/** The place below the target. The catalog's names are file names already; that they cannot climb is proven here all the same. */
function insideOf(target: string, place: string): string {
  const resolved = path.resolve(target, place)
  if (place.split('/').some((segment) => segment === '..' || segment === '.' || segment === '')) {
    throw new CodedError(coded('delivery_name_no_path'))
  }
  return resolved
}
