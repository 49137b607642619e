// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { FileBrowser } from './file-picker.js'
import { directoryAbove, parentOf } from './paths.js'

const user = userEvent.setup({ delay: null })
const file = (name: string) => ({ name, path: `/data/${name}`, kind: 'file', size: 1000 })
const FILES: Readonly<Record<string, readonly object[]>> = {
  '': [{ name: '/data', path: '/data', kind: 'directory', size: 0 }],
  '/data': ['a', 'b', 'c'].flatMap((part) => [1, 2, 3, 4].map((n) => file(`${part}${n}.tif`))),
}

function showBrowser(start: string | null) {
  stubService(({ path }) => {
    const items = FILES[new URL(path, 'http://x').searchParams.get('dir') ?? ''] ?? []
    return { items, total: items.length }
  })
  const onTake = vi.fn()
  show(<FileBrowser start={start} onTake={onTake} />)
  return onTake
}

test('the picker starts in the directory of the images, and takes all files that match the filter', async () => {
  const onTake = showBrowser('/data')
  await user.type(await screen.findByRole('searchbox', { name: 'Filter by name' }), 'B')
  await user.click(screen.getByRole('checkbox', { name: 'All 4 images' }))
  await user.click(screen.getByLabelText(/^b2\.tif/))
  await user.click(screen.getByRole('button', { name: 'Add 3 images' }))
  expect(onTake).toHaveBeenCalledWith(['/data/b1.tif', '/data/b3.tif', '/data/b4.tif'])
})

test('the only allowed directory is opened, the way up ends above it, and a path can be typed', async () => {
  showBrowser(null)
  await screen.findByText('a1.tif')
  await user.click(screen.getByRole('button', { name: 'One directory up' }))
  await screen.findByRole('button', { name: '/data' })
  expect(screen.getByRole('textbox', { name: 'Directory' })).toHaveProperty('value', '')
  await user.type(screen.getByRole('textbox', { name: 'Directory' }), '/data{Enter}')
  await screen.findByText('a1.tif')
})

test('the directory above a path is its parent, and null above a root', () => {
  expect([parentOf('/a/b.tif'), parentOf('/b.tif'), parentOf(undefined)]).toEqual(['/a', '/', null])
  expect(directoryAbove('/data/x', ['/data'])).toBe('/data')
  expect(directoryAbove('/data', ['/data'])).toBeNull()
  expect(directoryAbove('/', [])).toBeNull()
})
