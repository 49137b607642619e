// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { show, stubService } from '../testing/render.js'
import { call, send } from './client.js'
import { useSessionEnded } from './session.js'

test('a session that ended before its dialog was loaded is told by it, until there is a new one', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ error: 'authentication required' }, { status: 401 }))
  await expect(send(call('get', '/api/v1/admin/scan-sources'))).rejects.toThrow('authentication required')
  const Dialog = () => <p>{useSessionEnded() ? 'it has ended' : 'it continues'}</p>
  show(<Dialog />)
  await screen.findByText('it has ended')
  stubService(() => ({ name: 'admin', actor: 'admin', role: 'admin', by: 'password', expires_at: null }))
  await screen.findByText('it continues')
})
