import { FileSender, type NativeUse } from './transfer/file-sender.js'
import type { TierName } from './transfer/types.js'

const HOST = '127.0.0.1'

/**
 * What an edge would find at its start on this machine: the tier by which it would send files, and why. A line that says why there is no
 * server at all where uWebSockets.js does not load. Takes some tenths of a second.
 */
export async function tryNativeTier(native: NativeUse): Promise<{ tier: TierName; reason: string } | string> {
  try {
    // Rejects where no binary of it loads.
    const { App, us_socket_local_port } = await import('./uws/uws.js')
    const sender = new FileSender({ log: { info() {}, warn() {}, error() {} }, native })
    const app = App()
    sender.selfTestRoute(app)
    const port = await new Promise<number>((resolve, reject) => {
      app.listen(HOST, 0, (listening) => {
        if (listening === false) reject(new Error(`cannot listen on ${HOST}`))
        else resolve(us_socket_local_port(listening))
      })
    })
    await sender.attach({ host: HOST, port })
    app.close()
    return { tier: sender.tier, reason: sender.reason }
  } catch (error) {
    return (error as Error).message
  }
}
