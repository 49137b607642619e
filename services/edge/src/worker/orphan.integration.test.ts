import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const WORKER = fileURLToPath(new URL('../../dist/worker.js', import.meta.url))

test('a worker whose supervisor dies while the worker loads its code ends', async () => {
  const env = { ...process.env, CONFIG_FILE: '/nonexistent', DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  const worker = fork(WORKER, { env, execArgv: [], stdio: 'ignore' })
  try {
    await once(worker, 'spawn')
    worker.disconnect()
    expect(await once(worker, 'exit')).toEqual([0, null])
  } finally {
    worker.kill('SIGKILL')
  }
})
