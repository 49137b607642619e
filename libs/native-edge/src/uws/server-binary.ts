import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * SHA-256 digests of the uWebSockets.js binaries with which all proofs of the native tier were run (testing/run-proofs.mjs). The tier calls
 * functions of the binary and reads its memory. The probe and the self-test at each start check these assumptions for any other binary.
 */
const PROVEN: Readonly<Record<string, string>> = {
  '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e': 'uws-pack 20.0.8, Linux x64, Node 20',
  '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af': 'uws-pack 20.0.8, Linux x64, Node 22',
  '5b126ee00bf754b02e97e4c27090365a8562c5820c93f93918ac2212d4503e91': 'uWebSockets.js 20.57.0, Linux x64, Node 20',
  '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac': 'uWebSockets.js 20.57.0, Linux x64, Node 22',
  '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05': 'uWebSockets.js 20.57.0, Linux x64, Node 24',
}

export interface ServerBinary {
  readonly path: string
  /** SHA-256 in hexadecimal. */
  readonly digest: string
  readonly proven: boolean
}

/** Returns the uWebSockets.js binary that this process has loaded, or the reason why the native tier cannot use it. */
export function findServerBinary(): ServerBinary | string {
  if (process.platform !== 'linux') return `sendfile is used on Linux only, this is ${process.platform}`
  const path = loadedBinary()
  if (path === undefined) return 'uWebSockets.js is not loaded'
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
  return { path, digest, proven: digest in PROVEN }
}

function loadedBinary(): string | undefined {
  const mapped = readFileSync('/proc/self/maps', 'utf8').split('\n')
  const line = mapped.find((text) => /\/uws_linux_\w+\.node$/.test(text))
  return line?.slice(line.indexOf('/'))
}
