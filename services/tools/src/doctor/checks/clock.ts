import { type Finding, ok, warn } from '../finding.js'

/** Signatures and expiry dates are in seconds. A smaller difference is a round trip or a slow machine. */
const TOLERATED_MS = 2_000

/**
 * Compares this machine's clock with a server's.
 * @param ask returns the server's time, in milliseconds since 1970
 */
export async function checkClock(about: string, server: string, ask: () => Promise<number>): Promise<Finding> {
  const before = performance.now()
  const theirs = await ask()
  const roundTripMs = performance.now() - before
  // biome-ignore lint/plugin: calendar, which is compared here
  const difference = Date.now() - roundTripMs / 2 - theirs
  const seconds = Math.abs(difference / 1000).toFixed(1)
  if (Math.abs(difference) <= TOLERATED_MS + roundTripMs) return ok(about, `the clock agrees with that of ${server}`)
  return warn(
    about,
    `the clock is ${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} that of ${server}`,
    'synchronize both (chrony, systemd-timesyncd): tokens expire by the clock of each machine',
  )
}
