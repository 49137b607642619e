import { readFile } from 'node:fs/promises'

/** As /proc/net/tcp writes it (proc(5)). */
const ESTABLISHED = '01'

/**
 * Connections of clients to this port that stand, over all processes that listen on it, by what the kernel lists. Null where it lists
 * nothing: that is so on systems other than Linux.
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
