import { fileURLToPath } from 'node:url'
import type { Log } from '@gateway/core/logging/log.js'
import { childEnvironment } from '@gateway/core/settings/child-environment.js'
import { controlPlaneUrl, edgeUrl, type Settings } from '@gateway/core/settings/load.js'
import { EXIT_REFUSED } from '@gateway/core/settings/refusal.js'
import { Child } from './child.js'
import type { Shutdown } from './shutdown.js'

/** Time that a service may take beyond the time in which it drains, before it is killed. */
const STOP_MARGIN_MS = 5_000

/** Starts the control plane and the edge, and answers when both serve. The edge is stopped first, while the rest still answers it. */
export async function startServices(
  settings: Settings,
  databaseUrl: string,
  log: Log,
  shutdown: Shutdown,
): Promise<void> {
  const giveUp = (reason: Error) => void shutdown.run(EXIT_REFUSED, reason.message)
  const common = {
    // Given both, they would refuse; empty is unset.
    env: childEnvironment({ DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' }),
    stopWithinMs: (settings.drainNoticeSeconds + settings.drainSeconds) * 1000 + STOP_MARGIN_MS,
  }
  const services = [
    { name: 'control plane', script: mainOf('control-plane'), readyUrl: `${controlPlaneUrl(settings)}/ready` },
    { name: 'edge', script: mainOf('edge'), readyUrl: `${edgeUrl(settings)}/ready` },
  ].map((spec) => {
    const child = new Child({ ...common, ...spec }, log, giveUp)
    // The edge, the control plane's only client, has ended by then: it needs no notice.
    shutdown.add((signal) => child.stop(spec.name === 'edge' ? signal : 'SIGINT'))
    return child
  })
  await Promise.all(services.map((child) => child.ready()))
}

function mainOf(service: string): string {
  return fileURLToPath(new URL(`../../../${service}/dist/main.js`, import.meta.url))
}
