// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show } from '../../testing/render.js'
import { Page } from './submit-page.js'

const user = userEvent.setup({ delay: null })

test('a job that cannot work is refused in words before it is submitted', async () => {
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
