import { lookup } from 'node:dns/promises'
import type { LookUpAnswer } from './resolve.js'

// The child process of `LookUps`. It resolves the names that it receives until its parent exits.

// process.exit would wait for every look-up that hangs.
const end = () => process.kill(process.pid, 'SIGKILL')

const answer = (message: LookUpAnswer) => process.send?.(message, undefined, undefined, (error) => error && end())

process.on('disconnect', end)
process.on('message', (host: string) => {
  lookup(host, { all: true, order: 'verbatim' }).then(
    (addresses) => answer({ host, addresses }),
    ({ code, message }) => answer({ host, error: { code, message } }),
  )
})
