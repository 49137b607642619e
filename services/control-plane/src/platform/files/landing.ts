import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isPartOfShapefile } from '@gateway/contracts/shapefile.js'
import { assertBelow, clearStages, type Placed, placeFiles, placeFolder, type Stage, stageIn } from './stage.js'
import { ARCHIVE_EXTENSIONS, isArchiveExtension } from './tile-folder.js'

/** The destination of files below a directory that is laid out like a scan source. */
export interface Landing {
  /** existing directory */
  readonly root: string
  /** `folder`: `place` is a separate directory. `files`: the files share their parent directory with others. */
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
 * Creates the parent directories and a stage next to the place, and removes leftovers of an earlier attempt of `id`. Throws if the place is
 * outside of `root`. The stage's folder does not exist yet. The caller fills it, and removes it on failure.
 */
export async function prepareLanding(landing: Landing, id: string, turn: number): Promise<PreparedLanding> {
  const place = insideOf(landing.root, landing.place)
  const parent = path.dirname(place)
  await makeFolder(landing.root, parent)
  await clearStages(parent, id, place)
  return { ...landing, parent, stage: stageIn(parent, id, turn) }
}

/** Moves staged files to their place, `names` in their order (relative to the stage), and removes files that they supersede. */
export async function land(landing: PreparedLanding, names: readonly string[]): Promise<void> {
  await (await landForNow(landing, names)).done()
}

/** Like `land`, but the caller can take it back. */
export async function landForNow(landing: PreparedLanding, names: readonly string[]): Promise<Placed> {
  const { kind, root, place, parent, stage } = landing
  const superseded = await supersededBy(landing, names)
  if (kind === 'files') return placeFiles(stage, parent, names, superseded)
  const placed = await placeFolder(stage, path.join(root, place))
  for (const name of superseded) await rm(path.join(parent, name), { recursive: true })
  return placed
}

/** Returns the names of files that the receiver would otherwise read as the same data. */
async function supersededBy({ kind, place, parent }: PreparedLanding, names: readonly string[]): Promise<string[]> {
  const own = path.basename(place)
  const isNew = (name: string) => (kind === 'folder' ? name === own : names.includes(name))
  return (await readdir(parent)).filter((name) => !isNew(name) && isSuperseded(kind, own, name))
}

function isSuperseded(kind: Landing['kind'], place: string, name: string): boolean {
  const base = place.replace(/\.[^.]+$/, '')
  if (place.endsWith('.shp')) return isPartOfShapefile(base, name)
  const version = isArchiveExtension(path.extname(place)) && kind === 'files' ? base : kind === 'folder' ? place : null
  return version !== null && ['', ...ARCHIVE_EXTENSIONS].some((extension) => name === `${version}${extension}`)
}

async function makeFolder(target: string, folder: string): Promise<void> {
  // One directory at a time, so that none is created behind a link that leads elsewhere.
  let current = target
  for (const segment of path.relative(target, folder).split(path.sep).filter(Boolean)) {
    current = path.join(current, segment)
    await mkdir(current).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await assertBelow(target, current)
  }
}

/** Returns the place below the target. The catalog's names are file names already; this check proves that they cannot climb out. */
function insideOf(target: string, place: string): string {
  const resolved = path.resolve(target, place)
  if (place.split('/').some((segment) => segment === '..' || segment === '.' || segment === '')) {
    throw new CodedError(coded('delivery_name_no_path'))
  }
  return resolved
}
