import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { reachableHost, type Settings } from '@gateway/core/settings/load.js'
import { StartRefusal } from '@gateway/core/settings/refusal.js'

/**
 * Checks if a listener on this address would be the only one. Called before the edge starts, because the edge shares its port between processes, and
 * would silently share it with a second gateway too.
 * @returns null, or why not (`EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES` ...)
 */
async function whyNotListen(host: string, port: number): Promise<string | null> {
  const probe = createServer().listen(port, host.replace(/^\[|\]$/g, ''))
  try {
    await once(probe, 'listening')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message
  }
  await new Promise((resolve) => probe.close(resolve))
  return null
}

/** A gateway that was killed a moment ago still finishes its last requests. */
const FREED_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 100

/** Throws StartRefusal, naming the setting, where one of the gateway's own addresses cannot be listened on. */
export async function portsAreFree(settings: Settings): Promise<void> {
  const wanted = [
    ['API_PORT', settings.apiHost, settings.apiPort],
    ['CONTROL_PORT', settings.controlHost, settings.controlPort],
  ] as const
  const [api, control] = [settings.apiHost, settings.controlHost].map(reachableHost)
  if (settings.apiPort === settings.controlPort && api === control)
    throw new StartRefusal(`CONTROL_PORT ${settings.controlPort} is API_PORT too: set another`)
  const deadline = performance.now() + FREED_WITHIN_MS
  for (const [setting, host, port] of wanted) {
    let reason = await whyNotListen(host, port)
    while (reason === 'EADDRINUSE' && performance.now() < deadline) {
      await sleep(LOOK_AGAIN_MS)
      reason = await whyNotListen(host, port)
    }
    if (reason === 'EADDRINUSE')
      throw new StartRefusal(`${setting} ${port} is in use on ${host}: set another, or stop what listens there`)
    if (reason !== null) throw new StartRefusal(`${setting} ${port} on ${host} cannot be listened on: ${reason}`)
  }
}
