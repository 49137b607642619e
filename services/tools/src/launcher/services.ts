import { fileURLToPath } from 'node:url'
import type { Log } from '@gateway/core/logging/log.js'
import { childEnvironment, edgeEnvironment } from '@gateway/core/settings/child-environment.js'
import { controlPlaneUrl, edgeUrl, type Settings } from '@gateway/core/settings/load.js'
import { EXIT_REFUSED } from '@gateway/core/settings/refusal.js'
import { Child } from './child.js'
import type { Shutdown } from './shutdown.js'

/** Time that a service may take beyond the time in which it drains, before it is killed. */
const STOP_MARGIN_MS = 5_000

export interface Services {
  /** Resolves when the control plane serves. */
  readonly controlPlane: Promise<void>
  /** Resolves when the edge serves. */
  readonly edge: Promise<void>
}

/** Starts the control plane and the edge. The edge is stopped first, while the rest still answers it. */
export function startServices(settings: Settings, databaseUrl: string, log: Log, shutdown: Shutdown): Services {
  const giveUp = (reason: Error) => void shutdown.run(EXIT_REFUSED, reason.message)
  // Given both, they would refuse; empty is unset.
  const store = { DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' }
  const common = {
    stopWithinMs: (settings.drainNoticeSeconds + settings.drainSeconds) * 1000 + STOP_MARGIN_MS,
  }
  const start = (name: string, script: string, url: string, env: NodeJS.ProcessEnv) =>
    new Child({ ...common, name, script, readyUrl: `${url}/ready`, env }, log, giveUp)
  const env = childEnvironment(store)
  const controlPlane = start('control plane', mainOf('control-plane'), controlPlaneUrl(settings), env)
  // The edge, the control plane's only client, has ended by then: it needs no notice.
  shutdown.add(() => controlPlane.stop('SIGINT'))
  const edge = start('edge', mainOf('edge'), edgeUrl(settings), edgeEnvironment(store))
  shutdown.add((signal) => edge.stop(signal))
  return { controlPlane: controlPlane.ready(), edge: edge.ready() }
}

function mainOf(service: string): string {
  return fileURLToPath(new URL(`../../../${service}/dist/main.js`, import.meta.url))
}
