// @vitest-environment happy-dom
import { type AdminVector, UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { TileSettings } from './tile-settings.js'

const user = userEvent.setup({ delay: null })

const VECTOR = {
  ...UNKNOWN_FACTS,
  ...{ code: 'roads', name: 'Roads', fields: [{ name: 'class', type: 'String' }] },
  ...{ tile_min_zoom: null, tile_max_zoom: 9, tile_fields: null },
} as unknown as AdminVector

const select = (name: string) => screen.getByRole('combobox', { name })
const button = () => screen.getByRole('button', { name: 'Set and build' })

test('zooms and attributes of the tiles are set, and empty choices are left to the data', async () => {
  const sent = stubService(() => ({}))
  show(<TileSettings vector={VECTOR} />)
  expect(select('Last zoom')).toHaveProperty('value', '9')
  expect(button()).toHaveProperty('disabled', true)
  await user.selectOptions(select('First zoom'), '12')
  screen.getByText('The first zoom is above the last one')
  expect(button()).toHaveProperty('disabled', true)
  await user.selectOptions(select('First zoom'), '3')
  await user.selectOptions(select('Last zoom'), 'By the data')
  await user.type(screen.getByPlaceholderText('All'), 'class{enter}')
  await user.click(button())
  await screen.findByText('Tiles of Roads are being built')
  expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['PATCH', '/api/v1/admin/vectors/roads', { tile_min_zoom: 3, tile_max_zoom: null, tile_fields: ['class'] }],
  ])
})
