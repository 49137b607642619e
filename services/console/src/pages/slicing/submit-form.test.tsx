// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { type LayerSettings, SubmitForm } from './submit-form.js'

const user = userEvent.setup({ delay: null })

/** The estimated result of a job. */
const PLAN = { tiles: 1, bytes_estimate: 1, temp_bytes_estimate: 1, free_bytes: 1, bounds: [0, 0, 1, 1], min_zoom: 0 }

test('the highest zoom follows the resolution of the images until it is chosen, and is offered from then on', async () => {
  const sent = stubService(({ path }) => (path.endsWith('/estimate') ? { ...PLAN, max_zoom: 17 } : null))
  const onSubmit = showForm(null, false)
  await waitFor(() => expect(screen.getByLabelText('Highest zoom')).toHaveProperty('value', '17'))
  await user.clear(screen.getByLabelText('Highest zoom'))
  await user.type(screen.getByLabelText('Highest zoom'), '9')
  await user.click(await screen.findByRole('button', { name: 'Use 17' }))
  expect(sent.at(-1)?.body).toMatchObject({ zoom_max: 'native', source_paths: ['/data/dem.tif'] })
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  expect(onSubmit).toHaveBeenCalledWith(expect.objectContaining({ zoom_max: 17 }))
})

test('the reason why images cannot be sliced is shown as soon as they are chosen', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ error: '/data/dem.tif is not georeferenced' }, { status: 400 }))
  showForm(null, false)
  await screen.findByText('/data/dem.tif is not georeferenced')
})

function showForm(like: LayerSettings | null, isSilent = true) {
  if (isSilent) stubService(() => null)
  const onSubmit = vi.fn()
  const images = { sourcePaths: ['/data/dem.tif'], start: null, knownCodes: [] }
  const state = { pending: false, error: null, commandOf: () => ({ method: 'POST', path: '/slice/jobs' }) as const }
  show(<SubmitForm targetCode="hills" {...images} like={like} {...state} onSubmit={onSubmit} />)
  return onSubmit
}

test('a job is submitted with its grid and the content of its tiles', async () => {
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

test('a job is submitted with the archive that is chosen for its version', async () => {
  const onSubmit = showForm(null)
  await user.selectOptions(screen.getByLabelText('Stored as'), 'One PMTiles archive')
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  expect(onSubmit).toHaveBeenCalledWith(expect.objectContaining({ output: 'pmtiles' }))
})

test('a job is submitted with the interpolation that is chosen, and heights with none', async () => {
  const onSubmit = showForm(null)
  await user.selectOptions(screen.getByLabelText('Interpolation'), 'Nearest pixel')
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  expect(onSubmit).toHaveBeenLastCalledWith(expect.objectContaining({ resampling: 'nearest' }))
  await user.selectOptions(screen.getByLabelText('Content'), 'Heights, as Terrarium')
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  expect(onSubmit).toHaveBeenLastCalledWith(expect.not.objectContaining({ resampling: 'nearest' }))
})

test('a layer is rebuilt with the settings that it has', async () => {
  const like: LayerSettings = {
    zoom_min: 3,
    zoom_max: 9,
    tile_size: 512,
    tile_format: 'jpg',
    tile_matrix_set: 'WorldCRS84Quad',
    encoding: 'rgb',
    resampling: 'nearest',
  }
  const onSubmit = showForm(like)
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  expect(onSubmit).toHaveBeenCalledWith({ target_code: 'hills', source_paths: ['/data/dem.tif'], ...like })
})
