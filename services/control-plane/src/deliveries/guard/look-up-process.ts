import { lookup } from 'node:dns/promises'
import type { LookUpAnswer, LookUpQuestion } from './look-ups.js'

// The process that `LookUps` starts: it resolves what it is asked for, until whoever started it goes.

// Not process.exit: that would wait for every look-up that hangs.
const end = () => process.kill(process.pid, 'SIGKILL')

function tell(answer: LookUpAnswer): void {
  process.send?.(answer, undefined, undefined, (error) => {
    if (error !== null) end()
  })
}

process.on('disconnect', end)
process.on('message', ({ host }: LookUpQuestion) => {
  lookup(host, { all: true, order: 'verbatim' }).then(
    (addresses) => tell({ host, addresses }),
    (error: NodeJS.ErrnoException) => tell({ host, code: error.code ?? 'EAI_FAIL', message: error.message }),
  )
})
