import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { envLine, readEnvFile } from './env-file.js'
import { hasAdminCredentials } from './guard.js'
import type { Settings } from './load.js'
import { makeDirectory } from './make-directory.js'

export type CredentialsOutcome =
  | { readonly state: 'configured' }
  | { readonly state: 'written'; readonly path: string }
  | { readonly state: 'unwritable'; readonly path: string; readonly reason: string }

/**
 * If no admin credential is configured, writes a random ADMIN_PASSWORD and ADMIN_TOKEN into the env file (mode 0600) and returns the settings
 * with them. If the file cannot be written, the settings stay unchanged, and admin routes return 401.
 */
export function ensureAdminCredentials(settings: Settings): { settings: Settings; outcome: CredentialsOutcome } {
  if (hasAdminCredentials(settings)) return { settings, outcome: { state: 'configured' } }
  const path = settings.configFile
  try {
    makeDirectory(dirname(path))
    const written = withLock(`${path}.lock`, () => appendCredentials(path))
    const adopted = { ...settings, adminPassword: written.password, adminToken: written.token }
    return { settings: adopted, outcome: { state: 'written', path } }
  } catch (error) {
    return { settings, outcome: { state: 'unwritable', path, reason: (error as Error).message } }
  }
}

function appendCredentials(path: string): { password: string; token: string } {
  // Another process that started at the same time may have written a pair. One pair is enough.
  const present = readEnvFile(path)
  if (present.ADMIN_PASSWORD && present.ADMIN_TOKEN)
    return { password: present.ADMIN_PASSWORD, token: present.ADMIN_TOKEN }
  const password = randomBytes(18).toString('base64url')
  const token = randomBytes(32).toString('base64url')
  const glue = endsWithNewline(path) ? '' : '\n'
  const lines = `${glue}# Written at the first start, because no admin credential was configured.\n${envLine('ADMIN_PASSWORD', password)}${envLine('ADMIN_TOKEN', token)}`
  appendFileSync(path, lines, { mode: 0o600 })
  chmodSync(path, 0o600)
  return { password, token }
}

function endsWithNewline(path: string): boolean {
  try {
    const content = readFileSync(path, 'utf8')
    return content === '' || content.endsWith('\n')
  } catch {
    return true
  }
}

function withLock<T>(lockPath: string, work: () => T): T {
  const fd = openLock(lockPath)
  try {
    return work()
  } finally {
    closeSync(fd)
    rmSync(lockPath, { force: true })
  }
}

/** Writing two lines takes far less time. An older lock was left by a crash. */
const LOCK_WAIT_MS = 3000

function openLock(lockPath: string): number {
  const deadline = performance.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      return openSync(lockPath, 'wx', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (performance.now() > deadline) rmSync(lockPath, { force: true })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}
