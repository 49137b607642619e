import { readdirSync, readFileSync } from 'node:fs'

/** Every process of one gateway carries this variable with a value of its own, children of children included. */
export const MARK_VARIABLE = 'HARNESS_MARK'

export interface FoundProcess {
  readonly pid: number
  readonly command: string
}

/** The living processes that carry the mark in their environment. Linux only, as the whole suite is. */
export function markedProcesses(mark: string): readonly FoundProcess[] {
  return processIds()
    .filter((pid) => isAlive(pid) && readProc(pid, 'environ').split('\0').includes(`${MARK_VARIABLE}=${mark}`))
    .map((pid) => ({ pid, command: readProc(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
}

export function childrenOf(parent: number): readonly number[] {
  return processIds().filter((pid) => isAlive(pid) && Number(statFields(pid)[1]) === parent)
}

/** Running or sleeping, that is: not one that has ended and waits to be reaped. */
export function isAlive(pid: number): boolean {
  const [state] = statFields(pid)
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** The fields of proc(5) stat after the command name: state, parent, ... */
function statFields(pid: number): readonly string[] {
  const stat = readProc(pid, 'stat')
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function processIds(): readonly number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

/** Empty where the process has gone in the meantime, or belongs to somebody else. */
export function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
