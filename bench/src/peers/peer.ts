import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gateway/core/processes/free-port.js'
import type { DataSet } from '../data/data-set.js'
import type { Address } from '../data/traffic.js'
import { answers, Service } from '../gateway/service.js'
import { type Cores, family } from '../machine.js'

/** What is served, by the names of its basemaps. */
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
  | `crowd-${number}`

/** The archives of which a file server has the same tiles as files. */
const FOLDER_OF_ARCHIVE = { evenmb: 'many', evenpm: 'many', remotepm: 'many', vtmb: 'vt', vtpm: 'vt' } as const

/**
 * What a gateway is set up with. `common`: the common data, a store with one token, memory for tiles as by default. `small`: little memory
 * for tiles, and what is asked for evenly or by Zipf's law. `crowded`: many basemaps and tokens in the store. `sizes`: basemaps whose tiles are all of one size.
 * `tls`: as `common`, with TLS.
 */
export type Environment = 'common' | 'small' | 'crowded' | 'sizes' | 'tls'

/** A server of the comparison that runs and answers. */
export interface RunningPeer {
  readonly name: string
  /** name and version of what serves, with the settings that matter */
  readonly description: string
  readonly port: number
  /** the port expects TLS */
  readonly isEncrypted?: boolean
  /** every process of the server */
  pids(): number[]
  /** null: this server does not have the basemap, or cannot serve it in this way */
  tilePath(basemap: Basemap, tile: Address): string | null
  /** null: no downloads */
  downloadPath(vector: string): string | null
  /** false: the length alone is right */
  readonly sendsStoredBytes: boolean
  /** header lines that every request carries */
  readonly headers: readonly string[]
  /** the tokens of a crowded store; absent: there are none */
  readonly crowd?: readonly string[]
  /** a token that is granted none of the basemaps that are measured; absent: the server knows no tokens */
  readonly stranger?: string
  /** how many tiles it has answered, and how many of them out of its memory; absent: it does not tell */
  tileCounts?(): Promise<{ readonly tiles: number; readonly hits: number }>
  stop(): Promise<void>
}

export interface PeerOptions {
  readonly data: DataSet
  readonly environment: Environment
  readonly cores: Cores | null
}

/** A server that may be on this machine. `start` answers why not where it is not. */
export interface Peer {
  readonly name: string
  /** those in which it can take part */
  readonly environments: readonly Environment[]
  start(options: PeerOptions): Promise<RunningPeer | string>
}

/** A program that is started with a configuration file in a directory of its own, which is removed with it. */
export interface Daemon {
  readonly name: string
  readonly cores: Cores | null
  readonly isEncrypted?: boolean
  configuration(port: number, dir: string): string
  command(config: string, dir: string, port: number): readonly string[]
  /** what it answers with this status as soon as it serves */
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

/** The address of a server, to which paths are added. */
export function urlOf({ port, isEncrypted }: Pick<RunningPeer, 'port' | 'isEncrypted'>): string {
  return `${isEncrypted ? 'https' : 'http'}://127.0.0.1:${port}`
}

/** The first line that a program prints of its version; null: it is not installed. */
export function versionOf(program: string, option: string): string | null {
  const { error, stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' })
  return error === undefined ? ((stdout + stderr).split('\n')[0]?.trim() ?? '') : null
}

/** Where a file server finds the basemaps that are folders. */
export function folderPath(basemap: Basemap, { z, x, y }: Address): string | null {
  if (['mixmb', 'mixpm', 'cold', 'zipf'].includes(basemap) || basemap.startsWith('crowd-')) return null
  if (basemap.startsWith('sizepm')) return tilePathOf(basemap.replace('sizepm', 'size') as Basemap, { z, x, y })
  return tilePathOf(Object.hasOwn(FOLDER_OF_ARCHIVE, basemap) ? FOLDER_OF_ARCHIVE[basemap as never] : basemap, {
    z,
    x,
    y,
  })
}

/** A gateway's address of a tile, and that of its file. */
export function tilePathOf(basemap: Basemap, { z, x, y }: Address): string {
  // What a scan calls the one version of a source that is an archive.
  const version = basemap === 'remotepm' ? 'default' : 'v1'
  return `/tiles/${basemap}/${version}/${z}/${x}/${y}.${basemap.startsWith('vt') ? 'pbf' : 'png'}`
}
