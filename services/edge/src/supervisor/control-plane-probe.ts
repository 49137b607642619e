const ASK_AGAIN_MS = 100
const ANSWER_WITHIN_MS = 2_000

/** Resolves once the control plane says that it is ready, or when the time is over or `givenUp` says so. */
export async function controlPlaneReady(url: string, deadline: number, givenUp: () => boolean): Promise<void> {
  while (performance.now() < deadline && !givenUp()) {
    if (await isReady(`${url}/ready`)) return
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    await answer.body?.cancel()
    return answer.status === 200
  } catch {
    return false
  }
}
