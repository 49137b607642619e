import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { dieWithParent } from '../../processes/confinement.js'
import type { S3Settings } from '../s3-store.js'

/** The source file, even when the build runs: the build does not contain it. */
const SERVER = fileURLToPath(new URL('../../../src/object-storage/testing/swift_server.py', import.meta.url))
const ACCESS_KEY = 'test:tester'
const SECRET_KEY = 'testing'

/** A program of the required Debian packages, which `test/run.mjs` installs. */
export const SWIFT_PROGRAM = '/usr/bin/swift-proxy-server'

/** A real S3-compatible server on loopback: OpenStack Swift with s3api, empty. */
export interface TestSwift {
  readonly endpoint: string
  readonly port: number
  /** for `openObjectStore` */
  readonly settings: S3Settings
  /** the same, as environment variables of the gateway */
  readonly environment: Readonly<Record<string, string>>
  makeBucket(name: string): Promise<void>
  /** @param object `bucket/key`, unencoded @param body bytes, or the path of a file */
  put(object: string, body: Uint8Array | string): Promise<void>
  remove(object: string): Promise<void>
  stop(): Promise<void>
}

/** Starts a server in about a second. */
export async function startSwift(): Promise<TestSwift> {
  if (!existsSync(SWIFT_PROGRAM)) {
    throw new Error(
      'OpenStack Swift is not installed: apt-get install swift-proxy swift-account swift-container swift-object',
    )
  }
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-swift-'))
  const [command = '', ...args] = [...dieWithParent('KILL'), '/usr/bin/python3', SERVER, join(dir, 'swift')]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const written: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => written.push(line))
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(Number(line.slice(6)))
    })
    child.once('exit', () => reject(new Error(`swift does not start:\n${written.join('\n')}`)))
  })
  const endpoint = `http://127.0.0.1:${port}`
  const token = await signIn(endpoint)
  const call = async (method: string, path: string, body?: Uint8Array) => {
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    const url = `${endpoint}/v1/AUTH_test/${encoded}`
    const answer = await fetch(url, {
      method,
      headers: { 'x-auth-token': token },
      body: body === undefined ? null : new Blob([body as Uint8Array<ArrayBuffer>]),
    })
    if (!answer.ok) throw new Error(`swift: ${method} ${path} is answered ${answer.status}`)
  }
  return {
    endpoint,
    port,
    settings: {
      s3Endpoint: endpoint,
      s3Region: 'us-east-1',
      s3ForcePathStyle: true,
      awsAccessKeyId: ACCESS_KEY,
      awsSecretAccessKey: SECRET_KEY,
      awsSessionToken: null,
    },
    environment: {
      S3_ENDPOINT: endpoint,
      S3_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    },
    makeBucket: (name) => call('PUT', name),
    put: async (object, body) => call('PUT', object, typeof body === 'string' ? await readFile(body) : body),
    remove: (object) => call('DELETE', object),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function signIn(endpoint: string): Promise<string> {
  const headers = { 'x-storage-user': ACCESS_KEY, 'x-storage-pass': SECRET_KEY }
  const answer = await fetch(`${endpoint}/auth/v1.0`, { headers })
  const token = answer.headers.get('x-auth-token')
  if (token === null) throw new Error(`swift: signing in is answered ${answer.status}`)
  return token
}
