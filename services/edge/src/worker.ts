import { createLog } from '@gateway/core/logging/log.js'
import { beat } from '@gateway/core/processes/heartbeat.js'
import { keepYoungHeapSmall } from '@gateway/core/processes/young-heap.js'
import { loadSettings } from '@gateway/core/settings/load.js'
import { startWorker } from './worker/start.js'
import { SupervisorLink } from './worker/supervisor-link.js'

// Until the catalog is read; what requests create lives for a moment only, and is collected faster in a large heap.
keepYoungHeapSmall(true)
const settings = loadSettings()
const log = createLog('edge', settings.logLevel)
const link = new SupervisorLink()

// An unexpected error ends this process, and its supervisor starts another: a process in an unknown state must not serve.
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'the worker ends because of an error')
  link.ending()
  process.exit(1)
})

beat()
const worker = await startWorker(settings, log, link)
link.onNotice(() => worker.giveNotice())
link.onDrain(async () => {
  await worker.stop()
  link.ending()
  process.exit(0)
})
// At a terminal, signals reach the whole process group; only the supervisor decides what they mean.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
