/** Faults while callers read tiles: only the failures named in docs/failures.md may occur. */
import assert from 'node:assert/strict'
import { STOP_SECONDS, until } from './compose.mjs'
import { slice, WORLD } from './service.mjs'

const CALLERS = 8

export async function checkRestarts(compose, restarts) {
  await underLoad(compose, `${restarts} restarts of edges`, async () => {
    for (let i = 0; i < restarts; i++) {
      const [edge] = compose.containers(i % 2 === 0 ? 'edge-1' : 'edge-2')
      await compose.engine.runBeside('stop', '-t', STOP_SECONDS, edge)
      await compose.engine.runBeside('start', edge)
      await until(`${edge} is ready`, () => compose.isReady(edge, 8910))
      await seenByProxy()
    }
  })
}

export async function checkFaults(compose) {
  await meetEveryProcess(compose)
  await underLoad(compose, 'the store away for a minute', async () => {
    const [postgres] = compose.containers('postgres')
    await compose.engine.runBeside('pause', postgres)
    await new Promise((resolve) => setTimeout(resolve, 60_000))
    await compose.engine.runBeside('unpause', postgres)
    await until('administration works again', async () => Array.isArray((await compose.admin('GET', '/tokens')).items))
  })
  await controlPlaneDies(compose)
}

/**
 * A process cannot look up an unknown token while the store is down (docs/failures.md), and chance decides which process a connection reaches,
 * so this opens enough connections to reach all.
 */
async function meetEveryProcess(compose) {
  const ask = `new Promise((done) => http.get('http://127.0.0.1:8910${WORLD}?token=${compose.token}', { agent: false }, (res) => res.resume().on('end', done)))`
  const code = `import http from 'node:http'; for (let i = 0; i < 64; i++) await ${ask}`
  for (const edge of ['edge-1', 'edge-2'].flatMap((name) => compose.containers(name)))
    await compose.engine.runBeside('exec', edge, 'node', '--input-type=module', '-e', code)
}

/** Waits for the proxy, which checks every half second: it must have seen that an edge is back before the other one stops. */
export function seenByProxy() {
  return new Promise((resolve) => setTimeout(resolve, 1_500))
}

async function controlPlaneDies(compose) {
  const job = await slice(compose, 'deep-layer', 7)
  let runner
  await until('a control plane slices', async () => {
    runner = compose
      .containers('control-plane')
      .find((name) => compose.engine.run('top', name, 'args').includes('tiler/dist'))
    return runner !== undefined
  })
  compose.engine.run('kill', '--signal', 'KILL', runner)
  const from = performance.now()
  const other = compose.containers('control-plane').find((name) => name !== runner)
  await until('the other one slices', () => compose.engine.run('top', other, 'args').includes('tiler/dist'))
  console.log(`faults: the other control plane went on after ${Math.round((performance.now() - from) / 1000)} s`)
  await until('the slice job succeeds', async () => (await job()).status === 'succeeded')
  compose.engine.run('start', runner)
}

/** Reads tiles through the proxy during `work`; every response must be the tile. */
export async function underLoad(compose, what, work) {
  let on = true
  let answered = 0
  const failed = []
  const caller = async () => {
    while (on) {
      const outcome = await compose.ask(`${WORLD}?token=${compose.token}`).then(
        ({ status }) => status,
        (error) => error.message,
      )
      if (outcome === 200) answered++
      else failed.push(outcome)
    }
  }
  const callers = Array.from({ length: CALLERS }, caller)
  try {
    await work()
  } finally {
    on = false
    await Promise.all(callers)
  }
  console.log(`faults: ${what}: ${answered} tiles, ${failed.length} failed`)
  assert.deepEqual(failed, [])
}
