import { setTimeout as sleep } from 'node:timers/promises'
import { controlPlaneUrl, loadSettings } from '@gateway/core/settings/load.js'
import { adminAuthorization, adminClient } from './admin-client.js'
import { demoLines } from './banner.js'
import { prepareDemo } from './demo/demo.js'

/** Time limit: a control plane with a new store first migrates it, and scans its directories. */
const READY_WITHIN_MS = 120_000
const ASK_EVERY_MS = 500

/**
 * The demo of `npm start` for a gateway that is started differently (by the compose file). It writes the data below this DATA_DIR, which edges and
 * control planes must see under the same path, and prints what to try. A catalog with other data stays unchanged.
 */
const settings = loadSettings()
const authorization = adminAuthorization(settings)
if (authorization === null) throw new Error('neither ADMIN_TOKEN nor ADMIN_PASSWORD is set')
const controlPlane = controlPlaneUrl(settings)
await untilReady(`${controlPlane}/ready`)
const demo = await prepareDemo(adminClient(controlPlane, authorization), {
  dataDir: settings.dataDir,
  readUrl: controlPlane,
  apiUrl: settings.apiBaseUrl,
  tileBaseUrl: settings.tilePublicBaseUrl,
})
const lines = [`  Console     ${settings.apiBaseUrl}/admin/sign-in`, ...demoLines(demo)]
process.stdout.write(`${lines.join('\n')}\n`)

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch((error: Error) => error)
    if (answer instanceof Response && answer.ok) return
    if (performance.now() > deadline) {
      const words = answer instanceof Response ? `${answer.status} ${await answer.text()}` : answer.message
      throw new Error(`the control plane is not ready: ${words}`)
    }
    await sleep(ASK_EVERY_MS)
  }
}
