import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartRefusal } from '@gateway/core/settings/refusal.js'
import type { PostgresBinaries } from './binaries.js'
import { isDiskFull } from './restart-wait.js'
import type { RunAs } from './run-as.js'
import { exists } from './stale-server.js'

/** The superuser of the embedded Postgres, and the database of every new cluster. */
export const POSTGRES_USER = 'gateway'
export const POSTGRES_DATABASE = 'postgres'

/** A data directory that is ready for a server. */
export interface Cluster {
  readonly dataDir: string
  readonly password: string
}

const execute = promisify(execFile)

/**
 * Opens the cluster below `dir`, or creates it: `dir/data`, with a random password in `dir/password` (mode 0600).
 * A cluster that was incomplete when the machine stopped is deleted, since only a complete one gets its name.
 */
export async function openCluster(dir: string, binaries: PostgresBinaries, runAs: RunAs): Promise<Cluster> {
  const dataDir = join(dir, 'data')
  await removeUnfinished(dir)
  if (!(await exists(dataDir))) await create(dir, dataDir, binaries, runAs)
  await checkVersion(dataDir, binaries)
  await giveTo(dataDir, runAs)
  return { dataDir, password: await readFile(join(dir, 'password'), 'utf8') }
}

async function create(dir: string, dataDir: string, binaries: PostgresBinaries, runAs: RunAs): Promise<void> {
  const unfinished = join(dir, `unfinished-${process.pid}`)
  const passwordForInitdb = join(unfinished, 'password')
  const password = randomBytes(24).toString('base64url')
  await writeFile(join(dir, 'password'), password, { mode: 0o600 })
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(passwordForInitdb, password, { mode: 0o600 })
  for (const path of [unfinished, passwordForInitdb]) await chown(path, runAs.owner.uid, runAs.owner.gid)
  await initdb(binaries, runAs, join(unfinished, 'data'), passwordForInitdb)
  await rename(join(unfinished, 'data'), dataDir)
  await rm(unfinished, { recursive: true })
}

async function initdb(binaries: PostgresBinaries, runAs: RunAs, dataDir: string, passwordFile: string): Promise<void> {
  const options = [
    `--pgdata=${dataDir}`,
    `--username=${POSTGRES_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The same collation on every machine, whatever locales it has.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]
  const [command = '', ...args] = [...runAs.prefix, binaries.initdb, ...options]
  try {
    await execute(command, args, { cwd: '/' })
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    const why = cause(stderr) ?? message
    const advice = isDiskFull(why) ? '; the disk is full: make room, or set DATA_DIR to another folder' : ''
    throw new StartRefusal(`the embedded Postgres could not be set up in ${dataDir}: ${why}${advice}`)
  }
}

async function removeUnfinished(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name.startsWith('unfinished-')) await rm(join(dir, name), { recursive: true, force: true })
  }
}

async function checkVersion(dataDir: string, binaries: PostgresBinaries): Promise<void> {
  const kept = (await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).trim()
  const { stdout } = await execute(binaries.postgres, ['--version'])
  const installed = /\d+/.exec(stdout)?.[0]
  if (kept === installed) return
  throw new StartRefusal(
    `${dataDir} was written by Postgres ${kept}, and Postgres ${installed} is installed: export it with the former, or set DATABASE_URL`,
  )
}

/** Changes the owner of the data directory: Postgres must own it, and root may run Postgres as different users. */
async function giveTo(dataDir: string, { owner }: RunAs): Promise<void> {
  const { uid } = await stat(dataDir)
  if (uid === owner.uid) return
  if (process.getuid?.() !== 0) throw new StartRefusal(`${dataDir} belongs to user ${uid}: start as that user`)
  await execute('chown', ['-R', '-h', `${owner.uid}:${owner.gid}`, dataDir])
}

/** Extracts the cause of a failure from initdb's output, which continues with lines about removed files. */
function cause(text: string | undefined): string | undefined {
  const lines = text?.split('\n').filter((line) => line.trim() !== '')
  const said = lines?.find((line) => /\b(?:error|FATAL|PANIC): /.test(line))
  return said?.replace(/^.* UTC \[\d+\] /, '') ?? lines?.at(-1)
}
