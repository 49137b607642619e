import { lookup } from 'node:dns/promises'
import type { LookUpAnswer } from './resolve.js'

// The process that `LookUps` starts: it resolves the names that are sent to it, until its parent is gone.

// Not process.exit, which would wait for every look-up that hangs.
const end = () => process.kill(process.pid, 'SIGKILL')

const answer = (message: LookUpAnswer) => process.send?.(message, undefined, undefined, (error) => error && end())

process.on('disconnect', end)
process.on('message', (host: string) => {
  lookup(host, { all: true, order: 'verbatim' }).then(
    (addresses) => answer({ host, addresses }),
    ({ code, message }) => answer({ host, error: { code, message } }),
  )
})
