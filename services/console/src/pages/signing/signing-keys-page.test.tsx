// @vitest-environment happy-dom
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { Page } from './signing-keys-page.js'

const user = userEvent.setup({ delay: null })
const AT = '2026-03-01T08:00:00.000Z'
const KEY = { id: '0b9d3a52-5c1e-4b5f-9f57-2f1f4f3c7d10', created_at: AT, signs_from: AT, expires_at: null }

test('a signing key is rotated after a dialog shows the consequences', async () => {
  const sent = stubService(({ method }) =>
    method === 'GET' ? { items: [KEY], total: 1 } : { items: [KEY], confirmed: [], pending: [] },
  )
  show(<Page />)
  await screen.findByText(KEY.id)
  await user.click(screen.getByRole('button', { name: 'Rotate the key' }))
  const dialog = await screen.findByRole('dialog')
  await user.click(within(dialog).getByLabelText('Expire immediately'))
  await within(dialog).findByText(/All signed URLs/)
  await user.click(within(dialog).getByRole('button', { name: 'Rotate the key' }))
  await screen.findByText('Key rotated')
  await waitFor(() =>
    expect(sent.find(({ method }) => method === 'POST')).toMatchObject({
      path: '/api/v1/admin/signing-keys/rotate',
      body: { grace_seconds: 0 },
    }),
  )
})
