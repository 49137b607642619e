import { isReady } from '@gateway/core/processes/readiness.js'

const ASK_AGAIN_MS = 100

/** Resolves once the control plane says that it is ready, or when the time is over or `givenUp` says so. */
export async function controlPlaneReady(url: string, deadline: number, givenUp: () => boolean): Promise<void> {
  while (performance.now() < deadline && !givenUp()) {
    // Not by `fetch`, whose first use takes a sixth of the processor time of this process's start.
    if (await isReady(`${url}/ready`)) return
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}
