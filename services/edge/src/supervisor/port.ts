import net from 'node:net'

/**
 * Whether a TCP port can be listened on. Workers share theirs, and would share it with a stranger just as silently: so it is tried
 * exclusively first. null: it can; otherwise one line that says why not.
 */
export function portTrouble(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = net.createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(wordsFor(error, host, port)))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)))
  })
}

function wordsFor(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `API_PORT ${port} on ${host} is in use by another process`
  if (error.code === 'EACCES') return `API_PORT ${port} on ${host} may not be listened on by this user`
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `API_HOST ${host} is no address of this machine`
  return `API_HOST ${host} with API_PORT ${port} cannot be listened on: ${error.message}`
}
