import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** The calendar of processes that run with its environment. */
export interface FakeClock {
  readonly environment: Readonly<Record<string, string>>
  /** Sets the calendar to this many seconds after the real one. */
  step(seconds: number): void
}

/** Provides a calendar for the processes that a test file starts. Their monotonic clock stays the real one. */
export function useFakeClock(): FakeClock {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-test-clock-'))
  // A process of another user, such as Postgres, reads the file.
  chmodSync(dir, 0o755)
  const file = join(dir, 'clock')
  const step = (seconds: number) => writeFileSync(file, `${seconds >= 0 ? '+' : ''}${seconds}\n`)
  step(0)
  afterAll(() => rmSync(dir, { recursive: true }))
  return {
    environment: {
      // The library that faketime preloads. It allows setting only the calendar of a running process.
      LD_PRELOAD: execFileSync('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).trim(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    step,
  }
}
