import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@gateway/core/logging/log.js'
import { beat } from '@gateway/core/processes/heartbeat.js'
import { keepHeapSmall } from '@gateway/core/processes/small-heap.js'
import { listenHost } from '@gateway/core/settings/address-hosts.js'
import { loadSettings, type Settings } from '@gateway/core/settings/load.js'
import { EXIT_REFUSED, refuseArguments, SettingsRefusal } from '@gateway/core/settings/refusal.js'
import { readTlsPair } from '@gateway/core/settings/tls-pair.js'
import { Supervisor } from './supervisor/supervisor.js'

/** Time in ms that the workers of a killed supervisor need to notice its end, and close their listeners. */
const FREED_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 100

/**
 * Checks whether a TCP port can be listened on. Workers share theirs, and would also silently share it with a foreign process, so
 * it is first tried exclusively. Returns null, or the reason in one line.
 */
async function portTrouble(host: string, port: number): Promise<string | null> {
  const deadline = performance.now() + FREED_WITHIN_MS
  let error = await whyNotListen(host, port)
  while (error?.code === 'EADDRINUSE' && performance.now() < deadline) {
    await sleep(LOOK_AGAIN_MS)
    error = await whyNotListen(host, port)
  }
  return error === null ? null : wordsFor(error, host, port)
}

function whyNotListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const probe = net.createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)))
  })
}

function wordsFor(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `API_PORT ${port} on ${host} is in use by another process`
  if (error.code === 'EACCES') return `this user may not listen on API_PORT ${port} on ${host}`
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `API_HOST ${host} is not an address of this machine`
  return `the edge cannot listen on API_HOST ${host} with API_PORT ${port}: ${error.message}`
}

// The supervisor reads the catalog and the tokens once, and then only their changes.
keepHeapSmall(true)
const settings = settingsOrRefuse()
const trouble = await portTrouble(listenHost(settings.apiHost), settings.apiPort)
if (trouble !== null) refuse(trouble)
run(settings)

function settingsOrRefuse(): Settings {
  try {
    refuseArguments()
    const loaded = loadSettings()
    if (loaded.databaseUrl === null) {
      refuse('DATABASE_URL is not set: an edge needs the store of its control plane; npm start runs its own store')
    }
    readTlsPair(loaded)
    return loaded
  } catch (error) {
    if (error instanceof SettingsRefusal) refuse(error.message)
    throw error
  }
}

function refuse(line: string): never {
  process.stderr.write(`${line}\n`)
  process.exit(EXIT_REFUSED)
}

function run(loaded: Settings): void {
  const log = createLog('edge', loaded.logLevel)
  const supervisor = new Supervisor(loaded, log)
  supervisor.start()
  beat()
  const hurried = new AbortController()
  let stopping = false
  const stop = (why: string): void => {
    if (stopping) return
    stopping = true
    log.info({ why }, 'the edge drains')
    void supervisor.stop(loaded.drainNoticeSeconds * 1000, hurried.signal).then(() => {
      log.info('the edge has ended')
      process.exit(0)
    })
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  // After an interrupt someone waits for the end, and no load balancer needs to know: the edge stops without notice, and cuts an
  // earlier notice short.
  process.on('SIGINT', () => {
    hurried.abort()
    stop('SIGINT')
  })
  // The edge stops when its launcher ends for whatever reason, which closes the channel to it.
  if (process.connected) process.once('disconnect', () => stop('the launcher ended'))
}
