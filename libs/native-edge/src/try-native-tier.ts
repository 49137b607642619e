import { FileSender, type NativeUse } from './transfer/file-sender.js'
import type { TierName } from './transfer/types.js'

const HOST = '127.0.0.1'

/**
 * Returns the tier by which an edge that starts on this machine would send files, and the reason. Returns a message if uWebSockets.js
 * does not load, since no server can start then. Takes some tenths of a second.
 */
export async function tryNativeTier(native: NativeUse): Promise<{ tier: TierName; reason: string } | string> {
  try {
    // Rejects if no binary of uWebSockets.js loads.
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
