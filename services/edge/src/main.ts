import { createLog } from '@gateway/core/logging/log.js'
import { beat } from '@gateway/core/processes/heartbeat.js'
import { keepYoungHeapSmall } from '@gateway/core/processes/young-heap.js'
import { listenHost } from '@gateway/core/settings/address-hosts.js'
import { loadSettings, type Settings } from '@gateway/core/settings/load.js'
import { EXIT_REFUSED, refuseArguments, SettingsRefusal } from '@gateway/core/settings/refusal.js'
import { readTlsPair } from '@gateway/core/settings/tls-pair.js'
import { portTrouble } from './supervisor/port.js'
import { Supervisor } from './supervisor/supervisor.js'

// The supervisor reads the catalog and the tokens once, and then only their changes.
keepYoungHeapSmall(true)
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
