import { expect, test } from 'vitest'
import { loadSettings } from './load.js'
import { settingWarnings } from './warnings.js'

const codes = (environment: Record<string, string>) =>
  settingWarnings(loadSettings({ CONFIG_FILE: '/dev/null', ...environment })).map(({ code }) => code)

test.each([
  [{}, []],
  [{ API_HOST: '127.0.0.2' }, []],
  [{ API_HOST: '0.0.0.0' }, ['slice_sources_open']],
  [{ API_HOST: '::' }, ['slice_sources_open']],
  [{ API_HOST: '*' }, ['slice_sources_open']],
  [{ API_HOST: 'maps.example.com' }, ['slice_sources_open']],
  [{ CONTROL_HOST: '10.0.0.7' }, ['slice_sources_open']],
  [{ API_HOST: '0.0.0.0', SLICE_SOURCE_ROOTS: '/srv/images' }, []],
] as const)('the settings %j cause the warnings %j', (environment, expected) => {
  expect(codes(environment)).toEqual(expected)
})

test('a warning names the settings that cause it', () => {
  const [warning] = settingWarnings({ apiHost: '0.0.0.0', controlHost: '127.0.0.1', sliceSourceRoots: [] })
  expect(warning?.finding).toContain('API_HOST=0.0.0.0')
  expect(warning?.advice).toContain('SLICE_SOURCE_ROOTS')
})
