import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Settings } from '@gateway/core/settings/load.js'
import { type Finding, fault, ok, warn } from '../finding.js'
import type { Installation } from '../installation.js'
import type { FolderFacts, FolderWanted } from '../look-at-folder.js'
import type { SourceFolder } from './store.js'

/** Time limit: a mount whose server is gone never responds. */
const ANSWER_WITHIN_MS = 5_000
const LITTLE_BYTES = 1e9
const TOO_LITTLE_BYTES = 100e6
const LITTLE_SHARE = 0.05

interface Folder extends FolderWanted {
  /** the setting or scan source that names it */
  readonly name: string
}

/** Checks folders that are read, and folders that are written. */
export async function checkFolders(
  settings: Settings,
  installation: Installation,
  sources: readonly SourceFolder[],
): Promise<readonly Finding[]> {
  const read = (name: string, paths: readonly string[]): Folder[] =>
    paths.map((path) => ({ name, path, isWritten: false }))
  const written = (name: string, path: string): Folder => ({ name, path, isWritten: true })
  const folders = [
    written('DATA_DIR', settings.dataDir),
    ...(installation.controlPlane && isDirectory(settings.sliceOutputRoot)
      ? [written('SLICE_OUTPUT_ROOT', settings.sliceOutputRoot)]
      : []),
    ...read('BASEMAP_ROOTS', settings.basemapRoots),
    ...read('VECTOR_ROOTS', settings.vectorRoots),
    ...read('STYLE_ROOTS', settings.styleRoots),
    ...read('SLICE_SOURCE_ROOTS', settings.sliceSourceRoots.filter(isDirectory)),
    ...sources.flatMap(({ code, path }) => read(`scan source ${code}`, [path])),
  ]
  const first = (folder: Folder, i: number) => folders.findIndex(({ path }) => path === folder.path) === i
  return Promise.all(folders.filter(first).map(async (folder) => judge(folder, await look(folder))))
}

/** True for a directory, false for a bucket. */
function isDirectory(place: string): boolean {
  return place.startsWith('/')
}

function judge({ name, path, isWritten }: Folder, facts: FolderFacts | null): Finding {
  const what = `${name} ${path}`
  if (facts === null)
    return fault(
      'folders',
      `${what} does not respond`,
      'repair the mount; the gateway serves its other folders meanwhile',
    )
  if (facts.error !== null) {
    const verb = isWritten ? 'written into' : 'read'
    return fault(
      'folders',
      `${what} cannot be ${verb} by user ${process.getuid?.()} (${facts.error})`,
      adviceFor(facts.error),
    )
  }
  if (!isWritten) return ok('folders', `${what} can be read`)
  return judgeRoom(what, facts)
}

function judgeRoom(what: string, { freeBytes, bytes, freeInodes, inodes }: FolderFacts): Finding {
  const room = `${Math.floor(freeBytes / 1e6)} MB of ${Math.floor(bytes / 1e6)} MB`
  if (freeBytes < TOO_LITTLE_BYTES) return fault('folders', `${what} has ${room} left`, 'make room')
  if (inodes > 0 && freeInodes < inodes * LITTLE_SHARE)
    return warn(
      'folders',
      `${what} has ${freeInodes} of ${inodes} inodes left`,
      'tiles are small files: take a file system with more inodes, or publish archives',
    )
  if (freeBytes < LITTLE_BYTES || freeBytes < bytes * LITTLE_SHARE)
    return warn('folders', `${what} has ${room} left`, 'free space before the next slicing or import')
  return ok('folders', `${what} can be written to; ${room} are left`)
}

function adviceFor(code: string): string {
  if (code === 'ENOENT') return 'create it, mount it, or correct the path'
  if (code === 'EACCES' || code === 'EPERM') return 'give that user the right (chown, chmod, fsGroup)'
  if (code === 'EROFS') return 'mount it writable, or name another folder'
  if (code === 'ENOTDIR') return 'name a folder'
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'make room'
  return 'see what the system says of its disk'
}

const PROGRAM = fileURLToPath(new URL('../look-at-folder.js', import.meta.url))

/** Runs in a separate process, which is abandoned if the folder does not respond: a thread that hangs would keep this process from ending. */
function look(folder: FolderWanted): Promise<FolderFacts | null> {
  return new Promise((resolve) => {
    const child = fork(PROGRAM, [JSON.stringify({ path: folder.path, isWritten: folder.isWritten })])
    const end = (facts: FolderFacts | null): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      child.unref()
      if (child.connected) child.disconnect()
      resolve(facts)
    }
    const timer = setTimeout(() => end(null), ANSWER_WITHIN_MS)
    child.once('message', (facts) => end(facts as FolderFacts))
    child.once('error', () => end(null))
  })
}
