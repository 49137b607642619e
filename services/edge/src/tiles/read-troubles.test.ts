import type { Log } from '@gateway/core/logging/log.js'
import { expect, test } from 'vitest'
import { ReadTroubles } from './read-troubles.js'

test('a broken archive with a thousand requests writes one line, and another archive its own', () => {
  const lines: object[] = []
  const log = { warn: (detail: object, message: string) => lines.push({ ...detail, message }), info: () => {} }
  const troubles = new ReadTroubles(log as unknown as Log)
  const err = new Error('database disk image is malformed')
  for (const basemap of ['city', 'coast']) {
    for (let asked = 0; asked < 1000; asked++) {
      const path = `/tiles/${basemap}/v1/3/${asked}/0.png`
      troubles.noteContent('tiles cannot be read', { basemap, version: 'v1' }, path, err)
    }
  }
  expect(lines).toEqual(
    ['city', 'coast'].map((basemap) => ({
      basemap,
      version: 'v1',
      path: `/tiles/${basemap}/v1/3/0/0.png`,
      err,
      message: 'tiles cannot be read',
    })),
  )
})
