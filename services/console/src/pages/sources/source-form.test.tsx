// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { call } from '../../api/client.js'
import { show, stubService } from '../../testing/render.js'
import { SourceForm } from './source-form.js'

const TRIED = {
  ...{ problem: 'it is not there', problem_code: null, problem_params: null },
  ...{ added: 0, updated: 0, missing: 0, warnings: 0, coded_messages: [], found: [] },
}

test('a service is saved with its layers and headers, and what is not entered stays', async () => {
  const sent = stubService(() => TRIED)
  const saved: unknown[] = []
  const source = { code: 'city', name: 'City', kind: 'service', path: 'https://maps.example.org/wmts', enabled: true }
  const stored = {
    ...source,
    has_headers: true,
    layers: [{ name: 'roads', code: 'city-roads' }],
    options: { ttl_seconds: 60 },
  }
  const commandOf = () => call('get', '/api/v1/admin/scan-sources')
  const onSave = (body: unknown) => saved.push(body)
  show(
    <SourceForm source={stored as never} pending={false} error={null} commandOf={commandOf as never} onSave={onSave} />,
  )
  const layers = screen.getByRole('textbox', { name: /Layers/ })
  expect((layers as HTMLTextAreaElement).value).toBe('roads = city-roads')
  await userEvent.type(layers, '\nwater')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  const taken = [{ name: 'roads', code: 'city-roads' }, 'water']
  expect(saved).toMatchObject([{ layers: taken, options: { ttl_seconds: 60, max_concurrent: 8 } }])
  expect(saved[0]).not.toHaveProperty('headers')
  await userEvent.type(screen.getByRole('textbox', { name: /Headers/ }), 'X-Key: a:b')
  await userEvent.click(screen.getByRole('button', { name: 'Test' }))
  expect(sent[0]?.body).toMatchObject({ kind: 'service', layers: taken, headers: { 'X-Key': 'a:b' } })
})

test('the result of a test disappears when another path is entered', async () => {
  stubService(() => TRIED)
  const commandOf = () => call('get', '/api/v1/admin/scan-sources')
  show(<SourceForm pending={false} error={null} commandOf={commandOf as never} onSave={() => undefined} />)
  const path = screen.getByRole('textbox', { name: /Path/ })
  await userEvent.type(path, '/data/old')
  await userEvent.click(screen.getByRole('button', { name: 'Test' }))
  await screen.findByText('This path cannot be scanned')
  await userEvent.type(path, 'er')
  expect(screen.queryByText('This path cannot be scanned')).toBeNull()
})

test('the layers that a test of a service has found are taken or left by their boxes', async () => {
  const layer = (name: string) => ({ layer: name, code: `city-${name}`, name, preview: null })
  stubService(() => ({ ...TRIED, problem: null, added: 2, layers: [layer('roads'), layer('water')] }))
  const saved: unknown[] = []
  const commandOf = () => call('get', '/api/v1/admin/scan-sources')
  const onSave = (body: unknown) => saved.push(body)
  const source = { code: 'city', name: 'City', kind: 'service', path: 'https://maps.example.org/wmts', enabled: true }
  show(
    <SourceForm source={source as never} pending={false} error={null} commandOf={commandOf as never} onSave={onSave} />,
  )
  await userEvent.click(screen.getByRole('button', { name: 'Test' }))
  await userEvent.click(await screen.findByRole('checkbox', { name: 'water' }))
  const field = screen.getByRole('textbox', { name: /Layers/ }) as HTMLTextAreaElement
  expect(field.value).toBe('roads')
  await userEvent.click(screen.getByRole('checkbox', { name: 'water' }))
  expect(field.value).toBe('')
  await userEvent.click(screen.getByRole('checkbox', { name: 'roads' }))
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(saved).toMatchObject([{ layers: ['water'] }])
})
