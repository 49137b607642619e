import { sentence } from '@gateway/contracts/messages.js'
import type { Probed } from '../../probe/probe-result.js'
import { TIMED_OUT } from '../../probe/prober.js'

/** Returns the reason why an existing item could not be read now, for operators. */
export function whyNotRead(result: Exclude<Probed<unknown>, { state: 'ok' | 'empty' }>): string {
  if ('why' in result) return result.why
  return result.state === 'busy' ? sentence('said.locked') : TIMED_OUT
}
