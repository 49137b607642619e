// @vitest-environment happy-dom
import { type AdminVector, UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { EncodingField } from './encoding-field.js'

const user = userEvent.setup({ delay: null })

const vector = (fields: Partial<AdminVector>): AdminVector => ({
  ...UNKNOWN_FACTS,
  code: 'a b',
  name: 'Roads',
  kind: 'shapefile',
  relative_path: 'a b.shp',
  file_name: 'a b.shp',
  size: 1,
  modified_at: '2026-01-01T00:00:00Z',
  available: true,
  source_code: 's',
  download_url: '',
  revision: 1,
  description: null,
  tiles: {
    status: 'none',
    message: '',
    message_code: null,
    message_params: null,
    min_zoom: null,
    max_zoom: null,
    built_at: null,
    left_out: {},
  },
  tile_min_zoom: null,
  tile_max_zoom: null,
  tile_fields: null,
  path: '/a b.shp',
  withdrawn: false,
  source_enabled: true,
  ...fields,
})

const select = () => screen.getByRole('combobox', { name: 'Text encoding' })
const button = () => screen.getByRole('button', { name: 'Set encoding' })

test('the encoding of a shapefile can be overridden and reset', async () => {
  const sent = stubService(() => ({}))
  const { unmount } = show(<EncodingField vector={vector({ encoding: 'Big5', encoding_source: 'cpg' })} />)
  expect(screen.getByText('Big5 (from the .cpg)')).toBeDefined()
  expect(button()).toHaveProperty('disabled', true)
  await user.selectOptions(select(), 'GBK')
  await user.click(button())
  await screen.findByText('Encoding of Roads changed')
  unmount()
  show(<EncodingField vector={vector({ encoding: 'koi8-r', encoding_source: 'operator' })} />)
  expect(select()).toHaveProperty('value', 'koi8-r')
  await user.selectOptions(select(), 'As in the files')
  await user.click(button())
  expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['PATCH', '/api/v1/admin/vectors/a%20b', { encoding: 'GBK' }],
    ['PATCH', '/api/v1/admin/vectors/a%20b', { encoding: '' }],
  ])
})

test('the encoding of other kinds is only shown', () => {
  show(<EncodingField vector={vector({ kind: 'geopackage', encoding: 'UTF-8', encoding_source: 'format' })} />)
  expect(screen.getByText('UTF-8 (by the format)')).toBeDefined()
  expect(screen.queryByRole('combobox')).toBeNull()
})
