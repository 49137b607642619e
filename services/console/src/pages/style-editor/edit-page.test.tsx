// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { memoryPlaces } from '../../router/places.js'
import { Router } from '../../router/router.js'
import { showRouter } from '../../testing/render.js'
import { Page } from './edit-page.js'

const user = userEvent.setup({ delay: null })
const BASE = 'https://maps.example.org'

const documentOf = (revision: number, colour: string) => ({
  code: 'city',
  revision,
  revisions: Array.from({ length: revision }, (_, i) => ({
    revision: revision - i,
    created_at: '2026-01-01T00:00:00Z',
  })),
  bases: [BASE],
  document: {
    version: 8,
    sources: { roads: { type: 'vector', url: `${BASE}/vectors/roads/tilejson.json` } },
    layers: [
      { id: 'ground', type: 'background', paint: { 'background-color': colour } },
      { id: 'roads', type: 'line', source: 'roads', 'source-layer': 'roads', paint: { 'line-width': 2 } },
    ],
  },
})

/** Shows the editor of a style with this source, and returns what is sent. Revision 2 is the current one until something is saved. */
function showEditor(source = 'imports-styles') {
  const style = { code: 'city', name: 'City', source_code: source, style_url: `${BASE}/styles/city/style.json` }
  const saves: { readonly path: string; readonly headers: unknown; readonly style: ReturnType<typeof JSON.parse> }[] =
    []
  vi.stubGlobal('fetch', async (path: string, { method, headers, body, signal }: RequestInit) => {
    const { pathname, searchParams } = new URL(path, BASE)
    if (method === 'POST' && pathname.endsWith('/styles/import')) {
      saves.push({ path, headers, style: JSON.parse(await (body as Blob).text()) })
      return Response.json({ ...style, code: searchParams.get('code'), revision: 3, files: 1 })
    }
    if (pathname.endsWith('/document')) {
      if (searchParams.get('revision') === '1') return Response.json({ ...documentOf(2, '#111111'), revision: 1 })
      return Response.json(saves.length === 0 ? documentOf(2, '#222222') : documentOf(3, '#333333'))
    }
    if (/\/styles\/city[-\w]*$/.test(pathname)) return Response.json(style)
    // The map waits for its token.
    if (pathname.endsWith('/preview-token'))
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    return Response.json({ items: [], total: 0 })
  })
  const router = new Router(
    [
      { path: 'styles/:code/edit', Component: Page },
      { path: '*', Component: () => <p>another page</p> },
    ],
    memoryPlaces(['/styles/city/edit']),
  )
  return { ...showRouter(router, 'operator'), saves }
}

const save = () => screen.getByRole('button', { name: 'Save' }) as HTMLButtonElement
const colour = () => screen.getByRole('textbox', { name: 'Colour' }) as HTMLInputElement

test('a colour is changed, saved as a revision with gateway addresses, and the page shows what is stored', async () => {
  const { saves } = showEditor()
  await user.click(await screen.findByRole('button', { name: 'ground' }))
  expect(save().disabled).toBe(true)
  await user.clear(colour())
  await user.paste('#333333')
  await waitFor(() => expect(save().disabled).toBe(false))
  await user.click(save())
  await screen.findByText('“City” is saved as revision 3')
  expect(saves).toMatchObject([
    {
      path: '/api/v1/admin/styles/import?code=city',
      style: {
        sources: { roads: { url: 'gateway://vectors/roads' } },
        layers: [{ paint: { 'background-color': '#333333' } }, {}],
      },
    },
  ])
  await screen.findByRole('option', { name: /3 \(current\)/ })
  await waitFor(() => expect(save().disabled).toBe(true))
  expect(screen.queryByText(/Another user/)).toBeNull()
})

test('an earlier revision comes back, and can be saved or undone', async () => {
  showEditor()
  await user.click(await screen.findByRole('button', { name: 'ground' }))
  await user.selectOptions(screen.getByRole('combobox', { name: 'Go back to a revision' }), '1')
  await waitFor(() => expect(colour().value).toBe('#111111'))
  await waitFor(() => expect(save().disabled).toBe(false))
  await user.click(screen.getByRole('button', { name: 'Undo' }))
  expect(colour().value).toBe('#222222')
  await waitFor(() => expect(save().disabled).toBe(true))
})

test('a fault is named at its line, is not saved, and leaving asks', async () => {
  const { router } = showEditor()
  await user.click(await screen.findByRole('button', { name: 'Show the JSON' }))
  const text = screen.getByRole('textbox', { name: 'JSON' }) as HTMLTextAreaElement
  await user.clear(text)
  await user.paste(
    '{\n  "version": 8,\n  "sources": {},\n  "layers": [{ "id": "a", "type": "background", "paint": { "background-colour": "#fff" } }]\n}',
  )
  await user.click(await screen.findByRole('button', { name: 'Line 4:' }))
  expect(text.value.slice(text.selectionStart, text.selectionEnd)).toContain('background-colour')
  expect(save().disabled).toBe(true)
  act(() => router.navigate('/elsewhere'))
  await screen.findByText('Leave without saving?')
  await user.click(screen.getByRole('button', { name: 'Stay' }))
  expect(text.value).toContain('background-colour')
})

test('a style of a scan source is saved as a copy, which replaces no other style', async () => {
  const { saves, router } = showEditor('shared-styles')
  await screen.findByText(/never writes into the directory of a scan source/)
  await user.clear(screen.getByRole('textbox', { name: 'Code of the copy' }))
  await user.paste('city-night')
  await user.click(screen.getByRole('button', { name: 'Save as a new style' }))
  await waitFor(() => expect(router.state.location.pathname).toBe('/styles/city-night/edit'))
  expect(saves).toMatchObject([
    { path: '/api/v1/admin/styles/import?code=city-night', headers: { 'If-None-Match': '*' } },
  ])
})
