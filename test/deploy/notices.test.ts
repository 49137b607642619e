import { expect, test } from 'vitest'
import { notices, services, thirdParties } from '../../deploy/release/notices.mjs'

/** Licences that a release may contain. The owner decides about another licence before a package may bring it in. */
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

test('every package in a release has an approved licence', () => {
  const parts = ({ licence }: { licence: string | null }) =>
    (licence ?? 'none').replace(/[()]/g, '').split(/ AND | OR /)
  expect(parties.filter((party) => !parts(party).every((part) => ALLOWED.has(part)))).toEqual([])
})

test('the notices name the packages that run on servers or are bundled with the console, but no tools', () => {
  const names = parties.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['fastify', 'postgres', 'react-dom', 'maplibre-gl', 'sharp']))
  for (const tool of ['vitest', 'vite', 'typescript', '@types/node']) expect(names).not.toContain(tool)
})

test('a text that packages share appears once in the notices, and is not interpreted as Markdown', () => {
  const text = '# MIT\n\nPermission is hereby granted'
  const document = notices([
    { name: 'a', version: '1.0.0', licence: 'MIT', text },
    { name: 'b', version: '2.0.0', licence: 'MIT', text },
    { name: 'c', version: '3.0.0', licence: 'ISC', text: null },
  ])
  expect(document).toContain('### a 1.0.0 (MIT), b 2.0.0 (MIT)\n\n    # MIT\n\n    Permission is hereby granted\n')
  expect(document).toContain('- c 3.0.0 (ISC)\n')
})

test('the notices cover all services', () => {
  expect(services({ 'services/edge': {}, 'services/edge/node_modules/a': {}, 'libs/store/src/bus': {} })).toEqual([
    'services/edge',
  ])
})
