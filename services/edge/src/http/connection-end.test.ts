import { expect, test } from 'vitest'
import { connectionEnd } from './connection-end.js'

test.each(['', 'keep-alive', 'Keep-Alive', 'TE', 'closed', 'x-close', 'keep-alive, x close'])(
  'a connection stays open after "%s" unless the server drains',
  (header) => {
    expect([connectionEnd(header, false), connectionEnd(header, true)]).toEqual(['stays', 'untold'])
  },
)

test.each(['keep-alive, close', 'close,TE', 'TE ,\tCLOSE', 'close, close'])(
  '"%s" ends it: close is an option of a list, case-insensitive',
  (header) => expect(connectionEnd(header, false)).toBe('untold'),
)

test.each(['close', 'Close', 'CLOSE'])('the server itself understands "%s"', (header) => {
  expect([connectionEnd(header, false), connectionEnd(header, true)]).toEqual(['told', 'told'])
})
