/** The lower bound: a uWebSockets.js handler that sends a fixed buffer without any checks. `floor-server.js PORT BYTES` */
import { App } from '@gateway/native-edge/uws/uws.js'

const [port, bytes] = process.argv.slice(2).map(Number)
const body = new Uint8Array(bytes ?? 0).fill(0x61).buffer

App()
  .any('/*', (res) => {
    res.end(body)
  })
  .listen('127.0.0.1', port ?? 0, (listening) => {
    if (listening === false) throw new Error(`cannot listen on port ${port}`)
  })
process.on('SIGTERM', () => process.exit(0))
