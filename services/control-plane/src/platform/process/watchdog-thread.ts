import { parentPort } from 'node:worker_threads'
import { createLog } from '@gateway/core/logging/log.js'
import { Heartbeat, runQueueWaitMs } from '@gateway/core/processes/heartbeat.js'

const heartbeat = new Heartbeat(
  () => {
    createLog('control-plane', 'fatal').fatal('the event loop of the control plane is blocked; the process is killed')
    process.kill(process.pid, 'SIGKILL')
  },
  () => runQueueWaitMs(process.pid),
)
parentPort?.on('message', () => heartbeat.heard())
