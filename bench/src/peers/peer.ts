import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gateway/core/processes/readiness.js'
import type { DataSet } from '../data/data-set.js'
import { OTHERS, type Other } from '../data/others-set.js'
import type { Address } from '../data/traffic.js'
import { answers, Service } from '../gateway/service.js'
import { type Cores, family } from '../machine.js'

/** Names of the served basemaps. */
export type Basemap =
  | 'mix'
  | 'mixmb'
  | 'mixpm'
  | 'cold'
  | 'many'
  | `b${string}`
  | `size${number}k`
  | `sizepm${number}k`
  | keyof typeof FOLDER_OF_ARCHIVE
  | 'vt'
  | 'zipf'
  | Other
  | `crowd-${number}`

/** Archives for which a file server has the same tiles as files. */
const FOLDER_OF_ARCHIVE = { evenmb: 'many', evenpm: 'many', remotepm: 'many', vtmb: 'vt', vtpm: 'vt' } as const

/**
 * Configurations of a gateway. `common`: the common data, a store with one token, default memory for tiles. `small`: little memory for tiles,
 * and tiles that are requested evenly or by Zipf's law. `others`: as little memory, and the same tiles in formats of other makers. `crowded`: many basemaps and tokens in the store. `sizes`: basemaps whose tiles are all
 * of one size. `tls`: as `common`, with TLS.
 */
export type Environment = 'common' | 'small' | 'others' | 'crowded' | 'sizes' | 'tls'

/** A running server of the comparison. */
export interface RunningPeer {
  readonly name: string
  /** name and version of the server, with the relevant settings */
  readonly description: string
  readonly port: number
  /** true if the port expects TLS */
  readonly isEncrypted?: boolean
  /** every process of the server */
  pids(): number[]
  /** null: this server does not have the basemap, or cannot serve it in this way */
  tilePath(basemap: Basemap, tile: Address): string | null
  /** null: no downloads */
  downloadPath(vector: string): string | null
  /** false: only the length is right */
  readonly sendsStoredBytes: boolean
  /** header lines of every request */
  readonly headers: readonly string[]
  /** the tokens of a crowded store; absent: none */
  readonly crowd?: readonly string[]
  /** a token without a grant for the measured basemaps; absent: the server does not support tokens */
  readonly stranger?: string
  /** returns the number of served tiles, and of those from memory; absent: the server does not report them */
  tileCounts?(): Promise<{ readonly tiles: number; readonly hits: number }>
  stop(): Promise<void>
}

export interface PeerOptions {
  readonly data: DataSet
  readonly environment: Environment
  readonly cores: Cores | null
}

/** A server that may be installed on this machine. `start` returns the reason if it is not. */
export interface Peer {
  readonly name: string
  /** environments that it supports */
  readonly environments: readonly Environment[]
  start(options: PeerOptions): Promise<RunningPeer | string>
}

/** A program that is started with a configuration file in a separate directory, which is removed with it. */
export interface Daemon {
  readonly name: string
  readonly cores: Cores | null
  readonly isEncrypted?: boolean
  configuration(port: number, dir: string): string
  command(config: string, dir: string, port: number): readonly string[]
  /** path that returns this status as soon as the server is ready */
  readonly ready: readonly [path: string, status: number]
}

export async function startDaemon({ name, cores, isEncrypted = false, configuration, command, ready }: Daemon) {
  const dir = await mkdtemp(join(tmpdir(), `gateway-bench-${name}-`))
  const port = await freePort()
  const config = join(dir, 'config')
  await writeFile(config, configuration(port, dir))
  const service = new Service({ name, command: command(config, dir, port), core: cores?.server })
  const stop = async (): Promise<void> => {
    await service.stop()
    await rm(dir, { recursive: true, force: true })
  }
  const [path, status] = ready
  await service.until(() => answers(`${urlOf({ port, isEncrypted })}${path}`, status))
  return { port, isEncrypted, pids: () => family(service.pid), stop }
}

/** Returns the base URL of a server. */
export function urlOf({ port, isEncrypted }: Pick<RunningPeer, 'port' | 'isEncrypted'>): string {
  return `${isEncrypted ? 'https' : 'http'}://127.0.0.1:${port}`
}

/** Returns the first line of a program's version output; null: it is not installed. */
export function versionOf(program: string, option: string): string | null {
  const { error, stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' })
  return error === undefined ? ((stdout + stderr).split('\n')[0]?.trim() ?? '') : null
}

/** Returns the path of a tile of a folder basemap at a file server. */
export function folderPath(basemap: Basemap, { z, x, y }: Address): string | null {
  if (['mixmb', 'mixpm', 'cold', 'zipf'].includes(basemap) || basemap.startsWith('crowd-')) return null
  if (basemap.startsWith('others-')) return tilePathOf('many', { z, x, y })
  if (basemap.startsWith('sizepm')) return tilePathOf(basemap.replace('sizepm', 'size') as Basemap, { z, x, y })
  return tilePathOf(Object.hasOwn(FOLDER_OF_ARCHIVE, basemap) ? FOLDER_OF_ARCHIVE[basemap as never] : basemap, {
    z,
    x,
    y,
  })
}

/** Returns a gateway's path of a tile, and that of its file. */
export function tilePathOf(basemap: Basemap, { z, x, y }: Address): string {
  // The label that a scan gives to the only version of a source that is an archive.
  const version = basemap === 'remotepm' ? 'default' : 'v1'
  const extension = OTHERS[basemap as Other] ?? (basemap.startsWith('vt') ? 'pbf' : 'png')
  return `/tiles/${basemap}/${version}/${z}/${x}/${y}.${extension}`
}
