// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show } from '../../testing/render.js'
import { Page } from './submit-page.js'

const user = userEvent.setup({ delay: null })

test('a job that cannot work is refused with a reason before it is submitted', async () => {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    const { pathname } = new URL(path, 'http://console')
    asked.push(`${init.method ?? 'GET'} ${pathname}`)
    if (pathname.endsWith('/dashboard')) return Response.json({ layers: [] })
    if (pathname.endsWith('/estimate')) return Response.json({ error: 'these are 30000000 tiles' }, { status: 400 })
    return Response.json({ items: [], total: 0 })
  })
  show(<Page />)
  await user.type(await screen.findByRole('textbox', { name: 'Add a path' }), '/data/a.tif{Enter}')
  await user.type(screen.getByRole('combobox', { name: /Layer code/ }), 'a')
  await user.click(screen.getByRole('button', { name: 'Submit the job' }))
  await screen.findByText('The job was not submitted')
  expect(asked).not.toContain('POST /api/v1/admin/slice/jobs')
})

/** Three versions of a layer in the order of the service: by label. */
const LAYERS = ['10', '2', '9'].map((version) => ({ code: 'north', version, source_paths: [`/data/${version}.tif`] }))

async function imagesAt(path: string): Promise<string[]> {
  vi.stubGlobal('fetch', async (url: string) => {
    const isDashboard = new URL(url, 'http://console').pathname.endsWith('/dashboard')
    return Response.json(isDashboard ? { layers: LAYERS } : { items: [], total: 0 })
  })
  const { router } = show(<Page />)
  await act(() => router.navigate('/elsewhere'))
  await act(() => router.navigate(path))
  await screen.findByRole('combobox', { name: /Layer code/ })
  const images = screen.queryAllByText(/^\/data\//).map(({ textContent }) => textContent ?? '')
  return images
}

test('a new job can be prepared if a layer has several versions', async () => {
  expect(await imagesAt('/?x=')).toEqual([])
})

test('a rebuild starts with the images of the version that it was started from', async () => {
  expect(await imagesAt('/?rebuild=north&version=2')).toEqual(['/data/2.tif'])
})

test('a rebuild of a layer starts with the images of its newest version', async () => {
  expect(await imagesAt('/?rebuild=north')).toEqual(['/data/10.tif'])
})
