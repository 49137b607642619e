import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gateway/core/processes/readiness.js'
import { expect, it } from 'vitest'
import { loadGenerator, writeRequests } from './load.js'

it('a load whose server is gone says so', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'load-test-'))
  try {
    const requests = writeRequests(join(dir, 'requests'), [{ path: '/', headers: [] }])
    const load = { port: await freePort(), connections: 1, seconds: 0.1, requests, core: undefined }
    await expect(loadGenerator()(load)).rejects.toThrow('ended with 1 (connect: Connection refused)')
  } finally {
    rmSync(dir, { recursive: true })
  }
})
