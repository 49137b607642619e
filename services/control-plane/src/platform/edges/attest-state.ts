import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '@gateway/core/processes/within.js'
import { ANNOUNCE_INTERVAL_MS } from '@gateway/store/bus/bus.js'
import { currentState } from '@gateway/store/change-log.js'
import type { BackgroundLoop } from '../background.js'

/** Time in ms for one reading of the state; a state that was read longer ago is not told. */
const READ_WITHIN_MS = 2_000

/**
 * Tells the edges the state of the store every second. An edge that reaches only the bus cannot know otherwise whether a message is missing, for
 * example after a control plane was killed between a commit and its message. While this process does not reach the store it tells nothing: another
 * control plane may reach it and disable a token, without reaching this bus. Edges then go on for TOKEN_OFFLINE_SECONDS.
 */
export const attestState: BackgroundLoop = {
  name: 'state of the store for edges',
  async run({ bus, sql, shutdown }) {
    while (bus.medium === 'redis' && !shutdown.aborted) {
      const state = await within(currentState(sql), READ_WITHIN_MS, 'the store did not answer in time').catch(
        () => null,
      )
      // The bus reports its own failures.
      if (state !== null) await bus.attest(state).catch(() => {})
      await sleep(ANNOUNCE_INTERVAL_MS, undefined, { signal: shutdown, ref: false }).catch(() => {})
    }
  },
}
