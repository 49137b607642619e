import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import type { Gateway } from '../harness/gateway.js'
import { SPINNABLE, spin } from '../harness/spin.js'
import { SteadyLoad } from '../harness/steady-load.js'
import { useGateway } from '../harness/use-gateway.js'

/** By hand: KILLED_WORKERS=50 npm test -- test/fault/stopped-worker */
const KILLED_WORKERS = Number(process.env.KILLED_WORKERS ?? 2)

let token = ''

async function prepare(gateway: Gateway): Promise<void> {
  await makeTileFolder(join(gateway.home, 'basemaps/world/v1'), { maxZoom: 3 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'basemaps'))
  token = (await gateway.issueToken({ basemap_codes: ['*'] })).token
}

const gateway = useGateway({ edges: 1, edgeWorkers: 2, env: SPINNABLE }, prepare)

const ENDED = /the event loop of a worker is blocked; the worker is killed/
const REPLACED = /a worker ended and is replaced/

test('workers killed under load cost only the connections that they held, and no caller gets a 503', async ({
  annotate,
}) => {
  gateway().allowErrors(REPLACED)
  const { edges, url } = gateway()
  const edge = edges[0]?.process
  if (edge === undefined) throw new Error('there is an edge')
  const paths = [...Array.from({ length: 64 }, (_, i) => `/tiles/world/v1/3/${i >> 3}/${i & 7}.png`)]
  const load = new SteadyLoad(
    [...paths, '/api/v1/catalog/basemaps'].map((path) => url + path),
    {
      'x-access-token': token,
    },
  )
  const complete = () => edge.lines.filter(({ raw }) => raw.includes('the edge listens')).length
  for (let i = 0; i < KILLED_WORKERS; i++) {
    const before = complete()
    process.kill(edge.workers()[i % 2] ?? 0, 'SIGKILL')
    while (complete() === before) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { answered, failures } = await load.stop()
  await annotate(`answered: ${answered}, not answered: ${JSON.stringify(failures)}`)
  const answers = Object.keys(failures).filter((failure) => /^\d/.test(failure))
  expect(answers).toEqual([])
})

test('a stopped worker and a spinning one are ended and replaced; a spinning control plane ends itself', async () => {
  gateway().allowErrors(ENDED, REPLACED, /Debugger|inspector|nodejs.org/, /control plane/)
  const { controlPlane, url } = gateway()
  const edge = gateway().edges[0]?.process
  if (edge === undefined) throw new Error('there is an edge')
  const [stopped = 0, spinning = 0] = edge.workers()
  // A harmless signal, which tells the harness to expect the end of the process.
  controlPlane.process.signal('SIGCHLD')
  process.kill(stopped, 'SIGSTOP')
  await spin(edge, spinning)
  await spin(controlPlane.process, controlPlane.process.pid)
  for (const pid of [stopped, spinning]) await edge.line(({ raw, json }) => ENDED.test(raw) && json?.worker === pid)
  expect(await controlPlane.process.ended()).toEqual({ code: null, signal: 'SIGKILL' })
  controlPlane.process.start()
  await gateway().ready()
  expect(edge.workers()).toHaveLength(2)
  for (const pid of [stopped, spinning]) expect(edge.workers()).not.toContain(pid)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => fetch(`${url}/health`, { headers: { connection: 'close' } })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
})

test('an edge with a stopped worker ends at SIGTERM', async () => {
  const edge = gateway().edges[0]?.process
  process.kill(edge?.workers()[0] ?? 0, 'SIGSTOP')
  edge?.signal('SIGTERM')
  expect(await edge?.ended()).toEqual({ code: 0, signal: null })
})
