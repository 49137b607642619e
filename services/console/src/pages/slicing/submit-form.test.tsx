// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { type LayerSettings, SubmitForm } from './submit-form.js'

const user = userEvent.setup({ delay: null })

function showForm(like: LayerSettings | null) {
  stubService(() => null)
  const onSubmit = vi.fn()
  const images = { sourcePaths: ['/data/dem.tif'], start: null, knownCodes: [] }
  const state = { pending: false, error: null, commandOf: () => ({ method: 'POST', path: '/slice/jobs' }) as const }
  show(<SubmitForm targetCode="hills" {...images} like={like} {...state} onSubmit={onSubmit} />)
  return onSubmit
}

test('a job is submitted with its grid and what its tiles hold', async () => {
  const onSubmit = showForm(null)
  await user.selectOptions(screen.getByLabelText('Grid'), 'Longitude and latitude, CGCS2000 (EPSG:4490)')
  await user.selectOptions(screen.getByLabelText('Content'), 'Heights, as Terrarium')
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  expect(onSubmit).toHaveBeenCalledWith({
    target_code: 'hills',
    source_paths: ['/data/dem.tif'],
    zoom_min: 0,
    zoom_max: 12,
    tile_size: 256,
    tile_format: 'webp',
    tile_matrix_set: 'CGCS2000Quad',
    encoding: 'terrarium',
  })
})

test('a layer is rebuilt with the settings that it has', async () => {
  const like: LayerSettings = {
    zoom_min: 3,
    zoom_max: 9,
    tile_size: 512,
    tile_format: 'jpg',
    tile_matrix_set: 'WorldCRS84Quad',
    encoding: 'mapbox',
  }
  const onSubmit = showForm(like)
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  expect(onSubmit).toHaveBeenCalledWith({ target_code: 'hills', source_paths: ['/data/dem.tif'], ...like })
})
