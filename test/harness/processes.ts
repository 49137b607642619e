import { readdirSync, readFileSync } from 'node:fs'

/** Variable that every process of one gateway carries with a unique value, including all descendants. */
export const MARK_VARIABLE = 'HARNESS_MARK'

export interface FoundProcess {
  readonly pid: number
  readonly command: string
}

/** Returns the live processes that carry the mark in their environment. Linux only, like the whole suite. */
export function markedProcesses(mark: string): readonly FoundProcess[] {
  return processIds()
    .filter((pid) => isAlive(pid) && readProc(pid, 'environ').split('\0').includes(`${MARK_VARIABLE}=${mark}`))
    .map((pid) => ({ pid, command: readProc(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
}

export function childrenOf(parent: number): readonly number[] {
  return processIds().filter((pid) => isAlive(pid) && Number(statFields(pid)[1]) === parent)
}

/** True if the process runs or sleeps; false if it has ended and waits to be reaped. */
export function isAlive(pid: number): boolean {
  const [state] = statFields(pid)
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** Returns the fields of proc(5) stat after the command name: state, parent, ... */
export function statFields(pid: number): readonly string[] {
  const stat = readProc(pid, 'stat')
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function processIds(): readonly number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

/** Returns an empty text if the process has ended, or belongs to another user. */
export function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
