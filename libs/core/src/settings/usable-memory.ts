import { totalmem } from 'node:os'

/**
 * Returns the bytes of memory that this process may use: those of the machine, or fewer if a cgroup limits it.
 * @param limit of the cgroup; 0, undefined or an absurdly large number without one, depending on the version of Node
 */
export function usableMemory(limit: number | undefined = process.constrainedMemory(), total = totalmem()): number {
  return limit ? Math.min(limit, total) : total
}
