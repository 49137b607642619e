import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * The uWebSockets.js binaries that the native and the koffi tier have been proven with, by SHA-256. They call functions of the binary
 * and read its memory, so an unknown one is refused: proving it means running the tests and correctness/run.mjs with it and adding
 * its digest here.
 */
const PROVEN: Readonly<Record<string, string>> = {
  '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e': 'uws-pack 20.0.8, Linux x64, Node 20',
  '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af': 'uws-pack 20.0.8, Linux x64, Node 22',
}

/** The path of the uWebSockets.js binary that this process has loaded, if it is one of those, or why not. */
export function findServerBinary(): { path: string } | string {
  if (process.platform !== 'linux') return `sendfile is used on Linux only, this is ${process.platform}`
  const path = loadedBinary()
  if (path === undefined) return 'uWebSockets.js is not loaded'
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
  return digest in PROVEN ? { path } : `this uWebSockets.js binary is not one it was proven with (SHA-256 ${digest})`
}

function loadedBinary(): string | undefined {
  return readFileSync('/proc/self/maps', 'utf8').match(/\/\S.*\/uws_linux_\w+\.node$/m)?.[0]
}
