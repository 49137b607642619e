import { readFile } from 'node:fs/promises'

/** Code in /proc/net/tcp (proc(5)). */
const ESTABLISHED = '01'

/**
 * Returns the number of established client connections to this port, over all processes that listen on it, from the kernel's list.
 * Null if there is no list, as on systems other than Linux.
 */
export async function openConnections(port: number): Promise<number | null> {
  const tables = await Promise.all(
    ['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((table) => readFile(table, 'latin1').catch(() => '')),
  )
  if (tables.every((table) => table === '')) return null
  return tables.reduce((sum, table) => sum + countOpen(table, port), 0)
}

/** @param table the text of /proc/net/tcp or /proc/net/tcp6 */
function countOpen(table: string, port: number): number {
  const localPort = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  let count = 0
  for (const line of table.split('\n')) {
    const [, local = '', , state] = line.trimStart().split(/ +/, 4)
    if (state === ESTABLISHED && local.endsWith(localPort)) count++
  }
  return count
}
