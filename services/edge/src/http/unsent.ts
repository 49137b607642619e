import fs from 'node:fs'

/** ESTABLISHED, and CLOSE_WAIT: the client has ended its side, but still reads. As /proc/net/tcp writes them. */
const OPEN_STATES = new Set(['01', '08'])
const NOTHING_UNSENT = '00000000'

/**
 * Whether a client of this process on this port has still to take bytes that the kernel holds for it. As long as an answer of the native
 * table is under way this is so: nothing else tells of it. Linux alone, which is where there is a native table; proc(5) describes the files.
 */
export function hasUnsent(port: number): boolean {
  try {
    const inodes = [...unsentInodes('/proc/self/net/tcp', port), ...unsentInodes('/proc/self/net/tcp6', port)]
    if (inodes.length === 0) return false
    const own = ownSockets()
    return inodes.some((inode) => own.has(`socket:[${inode}]`))
  } catch (error) {
    // So many connections that none is left to look with.
    if (['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '')) return true
    throw error
  }
}

function unsentInodes(table: string, port: number): string[] {
  if (!fs.existsSync(table)) return []
  const localPort = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const inodes: string[] = []
  for (const line of fs.readFileSync(table, 'latin1').split('\n')) {
    const [, local = '', , state = '', queues = '', , , , , inode] = line.trim().split(/\s+/)
    if (inode === undefined || !local.endsWith(localPort) || !OPEN_STATES.has(state)) continue
    if (!queues.startsWith(NOTHING_UNSENT)) inodes.push(inode)
  }
  return inodes
}

/** Other processes share the port. */
function ownSockets(): ReadonlySet<string> {
  const links = fs.readdirSync('/proc/self/fd').map((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return '' // closed in between
    }
  })
  return new Set(links)
}
