import type { Transaction } from '@gateway/store/connect.js'
import { insertCallback } from '@gateway/store/deliveries.js'

/**
 * Owes a finished job's callback to its `callback_url`, in the transaction that finishes the job: either both or neither happen. `job` is
 * the job object as the interface has it, without its `callback_` fields. How the callback stands, `readCallbackStates` tells.
 */
export async function enqueueCallback(
  tx: Transaction,
  callback: { readonly jobId: string; readonly url: string; readonly job: Readonly<Record<string, unknown>> },
): Promise<void> {
  // An address that is none fails at its first attempt, with the guard's words.
  const destination = URL.canParse(callback.url) ? new URL(callback.url).origin : callback.url
  await insertCallback(tx, { ...callback, destination })
}
