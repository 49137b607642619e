import { readdirSync, readFileSync } from 'node:fs'
import { childrenOf } from '../harness/processes.js'

/** The common usage of all processes of one role at one moment. */
export interface Usage {
  readonly processes: number
  /** MB: shared pages count in equal parts for the processes that share them */
  readonly pss: number
  readonly rss: number
  /** MB of memory without a file that is not shared */
  readonly anonymous: number
  readonly files: number
  readonly threads: number
}

/** Roles by their command line; the first match counts. Processes without a role are tools started by jobs, which come and go. */
const ROLES: readonly (readonly [role: string, command: RegExp])[] = [
  ['edge worker', /edge\/dist\/worker\.js/],
  ['edge supervisor', /edge\/dist\/main\.js/],
  ['control plane', /control-plane\/dist\/main\.js/],
  ['launcher', /dist\/launcher\/main\.js|tools\/setup\.mjs/],
  ['postgres', /^(postgres:|\S*\/postgres )/],
]
export const POSTGRES = 'postgres'
export const LASTING_ROLES: readonly string[] = ROLES.map(([role]) => role)

/** Returns the usage of `parent` and of the processes below it at this moment, by role. */
export function usageBelow(parent: number): ReadonlyMap<string, Usage> {
  const found = new Map<string, Usage>()
  for (const pid of [parent, ...descendantsOf(parent)]) {
    const command = read(pid, 'cmdline').replaceAll('\0', ' ')
    const memory = read(pid, 'smaps_rollup')
    if (command === '' || memory === '') continue
    const role = ROLES.find(([, pattern]) => pattern.test(command))?.[0] ?? 'tools'
    const before = found.get(role)
    found.set(role, {
      processes: (before?.processes ?? 0) + 1,
      pss: (before?.pss ?? 0) + megabytes(memory, 'Pss'),
      rss: (before?.rss ?? 0) + megabytes(memory, 'Rss'),
      anonymous: (before?.anonymous ?? 0) + megabytes(memory, 'Pss_Anon'),
      files: (before?.files ?? 0) + entries(pid, 'fd'),
      threads: (before?.threads ?? 0) + entries(pid, 'task'),
    })
  }
  return found
}

/** Commands of processes without a role that live as long as their parents: they read archives and answer queries. */
const READERS = /mbtiles\/readers\/process|query-process|^npm |^sh -c|setup\.mjs/

/** Returns the processes of the lasting roles, except Postgres, with their memory (RSS) in MB. */
export function lastingBelow(parent: number): ReadonlyMap<number, { readonly role: string; readonly mb: number }> {
  const found = new Map<number, { role: string; mb: number }>()
  for (const pid of descendantsOf(parent)) {
    const role = roleOf(pid)
    if (role !== undefined && role !== POSTGRES) found.set(pid, { role, mb: megabytes(read(pid, 'status'), 'VmRSS') })
  }
  return found
}

/** Returns the commands of the tools that work at this moment. */
export function toolsBelow(parent: number): readonly string[] {
  return descendantsOf(parent).flatMap((pid) => {
    const command = read(pid, 'cmdline').replaceAll('\0', ' ')
    return command === '' || READERS.test(command) || roleOf(pid) !== undefined ? [] : [command]
  })
}

function roleOf(pid: number): string | undefined {
  const command = read(pid, 'cmdline').replaceAll('\0', ' ')
  return ROLES.find(([, pattern]) => pattern.test(command))?.[0]
}

/** Returns the current workers of the edge. */
export function workersBelow(parent: number): readonly number[] {
  return descendantsOf(parent).filter((pid) => /edge\/dist\/worker\.js/.test(read(pid, 'cmdline')))
}

/** Returns the number of clients of the embedded Postgres. */
export function databaseConnections(parent: number): number {
  return descendantsOf(parent).filter((pid) => /^postgres: .*\(\d+\)/.test(read(pid, 'cmdline'))).length
}

function descendantsOf(parent: number): readonly number[] {
  return childrenOf(parent).flatMap((pid) => [pid, ...descendantsOf(pid)])
}

function megabytes(memory: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(memory)?.[1] ?? 0) / 1024
}

/** Returns an empty text, or 0, if the process has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function entries(pid: number, dir: string): number {
  try {
    return readdirSync(`/proc/${pid}/${dir}`).length
  } catch {
    return 0
  }
}
