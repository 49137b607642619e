import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@gateway/core/logging/log.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { childEnvironment } from '@gateway/core/settings/child-environment.js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Child } from './child.js'

const log = createLog('test', 'silent')
let dir: string
let port: number

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'child-'))
  port = await freePort()
})
afterEach(() => rmSync(dir, { recursive: true }))

/** A service that writes its process id down and answers its readiness probe; `onStart` runs before it does. */
function service(onStart: string): { child: Child; starts: () => number[]; givenUp: Promise<Error> } {
  const script = join(dir, 'service.mjs')
  const starts = join(dir, 'starts')
  writeFileSync(starts, '')
  writeFileSync(
    script,
    `import { appendFileSync } from 'node:fs'
     import { createServer } from 'node:http'
     appendFileSync(${JSON.stringify(starts)}, process.pid + '\\n')
     ${onStart}
     createServer((_, answer) => answer.end('ok')).listen(${port}, '127.0.0.1')`,
  )
  const spec = {
    name: 'service',
    script,
    env: childEnvironment({}),
    readyUrl: `http://127.0.0.1:${port}/ready`,
    stopWithinMs: 500,
  }
  let child: Child | undefined
  const givenUp = new Promise<Error>((resolve) => {
    child = new Child(spec, log, resolve)
  })
  const read = () => readFileSync(starts, 'utf8').split('\n').filter(Boolean).map(Number)
  return { child: child as unknown as Child, starts: read, givenUp }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

test('a child that dies is started again', async () => {
  const { child, starts } = service('')
  await child.ready()
  const [first = 0] = starts()
  process.kill(first, 'SIGKILL')
  await vi.waitUntil(() => starts().length === 2, { timeout: 90_000 })
  await child.ready()
  await child.stop('SIGTERM')
  expect(starts()).toHaveLength(2)
  expect(starts().every(isGone)).toBe(true)
})

test('a child that does not turn its event loop is killed and started again', async () => {
  const heartbeat = new URL('../../../../libs/core/dist/processes/heartbeat.js', import.meta.url)
  const { child, starts } = service(`const { beat } = await import('${heartbeat}'); beat()`)
  await child.ready()
  const [first = 0] = starts()
  process.kill(first, 'SIGSTOP')
  await vi.waitUntil(() => starts().length === 2, { timeout: 90_000 })
  await child.ready()
  process.kill(starts()[1] ?? 0, 'SIGSTOP')
  await child.stop('SIGTERM')
  expect(starts().every(isGone)).toBe(true)
})

test('a child that refuses its settings is not started again', async () => {
  const { starts, givenUp } = service('process.exit(2)')
  expect((await givenUp).message).toBe('the service refuses to start')
  expect(starts()).toHaveLength(1)
})

test('a child that never comes to serve is given up after three starts', async () => {
  const { starts, givenUp } = service('process.exit(1)')
  expect((await givenUp).message).toMatch(/ended 3 times \(exit code 1\)/)
  expect(starts()).toHaveLength(3)
})

test('a child that does not end when asked is killed', async () => {
  const { child, starts } = service(`process.on('SIGTERM', () => {})`)
  await child.ready()
  await child.stop('SIGTERM')
  expect(starts().every(isGone)).toBe(true)
})
