import type * as Server from 'uWebSockets.js-older'
import { createRequire } from 'node:module'

export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js-older'

/** The part of uWebSockets.js that is used. Both versions have it in the same form; the types are those of the older version. */
type Uws = Pick<typeof Server, 'App' | 'SSLApp' | 'us_listen_socket_close' | 'us_socket_local_port'>

/**
 * Loads the uWebSockets.js of this machine: the newer version if its binary loads (Node 20, 22 and 24; glibc 2.38, as in Debian 13), else
 * the older one (Node 20 and 22; glibc 2.27). If neither loads, rejects with a one-line error that says how to solve it.
 */
async function load(): Promise<Uws> {
  try {
    return createRequire(import.meta.url)('uWebSockets.js') as Uws
  } catch (newer) {
    try {
      return (await import('uWebSockets.js-older')) as Uws
    } catch {
      throw new Error(
        `uWebSockets.js has no binary for Node ${process.versions.node} on this system: Node 20 and 22 need glibc 2.27, ` +
          `Node 24 needs glibc 2.38 (Debian 13, Ubuntu 24.04)`,
        { cause: newer },
      )
    }
  }
}

export const { App, SSLApp, us_listen_socket_close, us_socket_local_port } = await load()
