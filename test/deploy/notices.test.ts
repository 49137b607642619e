import { expect, test } from 'vitest'
import { notices, services, thirdParties } from '../../deploy/release/notices.mjs'

/** What a release may hold. Another licence is the owner's to decide, before it gets in by a package. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'LGPL-2.1-or-later',
  'LGPL-3.0-or-later',
  'MIT',
  // MIT without the condition of a notice.
  'MIT-0',
  // Fonts: they may be shipped with software, and their licence is in the notices.
  'OFL-1.1',
  'Unlicense',
  'Zlib',
])

const parties = thirdParties()

test('every package in a release has a licence, and one that was looked at', () => {
  const parts = ({ licence }: { licence: string | null }) =>
    (licence ?? 'none').replace(/[()]/g, '').split(/ AND | OR /)
  expect(parties.filter((party) => !parts(party).every((part) => ALLOWED.has(part)))).toEqual([])
})

test('the notices name what runs on servers and what the console bundles, and leave out tools', () => {
  const names = parties.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['fastify', 'postgres', 'react-dom', 'maplibre-gl', 'sharp']))
  for (const tool of ['vitest', 'vite', 'typescript', '@types/node']) expect(names).not.toContain(tool)
})

test('a text that packages share stands in the notices once, and nothing in it is read as Markdown', () => {
  const text = '# MIT\n\nPermission is hereby granted'
  const document = notices([
    { name: 'a', version: '1.0.0', licence: 'MIT', text },
    { name: 'b', version: '2.0.0', licence: 'MIT', text },
    { name: 'c', version: '3.0.0', licence: 'ISC', text: null },
  ])
  expect(document).toContain('### a 1.0.0 (MIT), b 2.0.0 (MIT)\n\n    # MIT\n\n    Permission is hereby granted\n')
  expect(document).toContain('- c 3.0.0 (ISC)\n')
})

test('all services are in it', () => {
  expect(services({ 'services/edge': {}, 'services/edge/node_modules/a': {}, 'libs/store/src/bus': {} })).toEqual([
    'services/edge',
  ])
})
