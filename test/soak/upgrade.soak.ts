import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isReady } from '@gateway/core/processes/readiness.js'
import { expect, test } from 'vitest'
import { Admin } from '../harness/admin.js'
import { environment } from '../harness/environment.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import { startNginx } from '../harness/load-balancers.js'
import { OwnPostgres } from '../harness/own-postgres.js'
import { freePort } from '../harness/ports.js'
import { startRedis } from '../harness/redis.js'
import { ServiceProcess } from '../harness/service-process.js'
import { SteadyLoad } from '../harness/steady-load.js'
import { options, say } from './options.js'
import { previousVersion } from './previous-version.js'

const HERE = fileURLToPath(new URL('../..', import.meta.url))
const ADMIN_TOKEN = 'harness-admin-token'
/** Two builds, three upgrades and their load; a build takes minutes on a busy machine. */
const TIMEOUT_MS = 3_600_000
/** The one release that does not know the marks of migrations. */
const WITHOUT_MARKS = '0.1.0'

interface Service {
  readonly url: string
  process: ServiceProcess
  /** Ends the process, and starts that of another checkout with the same settings. */
  replace(folder: string): Promise<void>
}

test(
  'the version before is upgraded under load, comes back on the new schema, and is upgraded again',
  async () => {
    const before = previousVersion(options.before)
    const returns = before.version !== WITHOUT_MARKS
    const home = await mkdtemp(join(tmpdir(), 'gateway-upgrade-'))
    // An empty server: the databases of the other tests are copies of a migrated one.
    const { database } = await OwnPostgres.start()
    const redis = await startRedis()
    await makeTileFolder(join(home, 'maps/world/v1'), { maxZoom: 3 })
    await makeGeojson(join(home, 'vectors/points.geojson'), 1_000)
    const [controlPort, ...edgePorts] = [await freePort(), await freePort(), await freePort()] as const
    const common = {
      CONFIG_FILE: join(home, 'service.env'),
      DATA_DIR: join(home, 'data'),
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      CONTROL_PORT: String(controlPort),
      API_BASE_URL: `http://127.0.0.1:${edgePorts[0]}`,
      EDGE_WORKERS: '2',
      ADMIN_USER: 'admin',
      ADMIN_PASSWORD: 'harness-admin-password',
      ADMIN_TOKEN,
      DEMO: 'false',
    }
    const mark = randomUUID()
    const service = (kind: 'control-plane' | 'edge', port: number): Service => {
      const start = (folder: string) => {
        const env = environment(mark, { ...common, API_PORT: String(kind === 'edge' ? port : edgePorts[0]) })
        return new ServiceProcess(kind, [process.execPath, join(folder, `services/${kind}/dist/main.js`)], env)
      }
      return {
        url: `http://127.0.0.1:${port}`,
        process: start(before.folder),
        async replace(folder) {
          this.process.signal('SIGTERM')
          await this.process.ended()
          this.process = start(folder)
          await ready(this)
        },
      }
    }
    const controlPlane = service('control-plane', controlPort)
    const edges = edgePorts.map((port) => service('edge', port))
    const all = [controlPlane, ...edges]
    const balancer = await startNginx(edges.map(({ url }) => url))
    let load: SteadyLoad | null = null
    try {
      for (const each of all) await ready(each)
      const admin = new Admin(controlPlane.url, ADMIN_TOKEN)
      await admin.scanSource('maps', 'basemap', join(home, 'maps'))
      await admin.scanSource('vectors', 'vector', join(home, 'vectors'))
      const token = await admin.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })
      const headers = { 'x-access-token': token.token }
      const paths = [
        ...Array.from({ length: 64 }, (_, i) => `/tiles/world/v1/3/${i >> 3}/${i & 7}.png`),
        '/geojson/points.geojson',
      ]
      const digests = async () => {
        const found: Record<string, string> = {}
        for (const path of paths) {
          const answer = await fetch(edges[0]!.url + path, { headers })
          const body = Buffer.from(await answer.arrayBuffer())
          found[path] = `${answer.status} ${createHash('sha256').update(body).digest('hex')}`
        }
        return found
      }
      const first = await digests()
      load = new SteadyLoad(
        paths.map((path) => balancer.url + path),
        headers,
      )

      const check = async (what: string) => {
        expect(await digests()).toEqual(first)
        const { id, token: ended } = await admin.issueToken({ basemap_codes: ['world'] })
        const path = '/tiles/world/v1/0/0/0.png'
        const statuses = async () =>
          Promise.all(
            edges.map(async ({ url }) => (await fetch(url + path, { headers: { 'x-access-token': ended } })).status),
          )
        await expect.poll(statuses).toEqual([200, 200])
        await admin.expect(`/tokens/${id}/disable`, { method: 'POST' })
        await expect.poll(statuses).toEqual([401, 401])
        say(`${what}: ${load?.answered} answers so far`)
      }
      const forward = async () => {
        for (const each of all) await each.replace(HERE)
      }
      await check(`version ${before.version}`)
      await forward()
      await check('upgraded')
      if (returns) {
        for (const each of all.toReversed()) await each.replace(before.folder)
        await check(`back to ${before.version}`)
        await forward()
        await check('upgraded again')
      } else {
        controlPlane.process.signal('SIGTERM')
        await controlPlane.process.ended()
        await expect(controlPlane.replace(before.folder)).rejects.toThrow(
          /the database has migration 7, which this version does not know/,
        )
        say(`${before.version} refuses the new schema, as docs/upgrades.md says; the edges go on`)
        await controlPlane.replace(HERE)
        await check('the new version again')
      }
      const result = await load.stop()
      load = null
      say(`${result.answered} answers, failures: ${JSON.stringify(result.failures)}`)
      expect(result.failures).toEqual({})
    } finally {
      await load?.stop()
      for (const { process: each } of all.toReversed()) await each.stop(20_000)
      await balancer.stop()
      await redis.stop()
      await database.drop()
      await rm(home, { recursive: true, force: true })
    }
  },
  TIMEOUT_MS,
)

async function ready({ url, process: started }: Service): Promise<void> {
  while (!(await isReady(`${url}/ready`))) {
    if (!started.running) throw new Error(`${started.name} ended before it was ready:\n${started.output()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
