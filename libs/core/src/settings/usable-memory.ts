import { totalmem } from 'node:os'

/**
 * Bytes of memory that this process may use: the machine's, or less where a cgroup limits it.
 * @param limit of the cgroup; 0, undefined or an absurdly large number where there is none, by the version of Node
 */
export function usableMemory(limit: number | undefined = process.constrainedMemory(), total = totalmem()): number {
  return limit ? Math.min(limit, total) : total
}
