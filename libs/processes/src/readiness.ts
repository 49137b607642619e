/** A process that accepts a connection and then says nothing is not ready. */
const ANSWER_WITHIN_MS = 2_000

/** Whether the readiness probe at this address answers 200 at this moment. */
export async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    await answer.body?.cancel()
    return answer.status === 200
  } catch {
    return false
  }
}
