// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { en } from '../../texts/en.js'
import { EarlierBase } from './earlier-base.js'

const NOW = 'https://maps.example.com'
const at = (base: string) => ({ url_template: `${base}/tiles/city/current/{z}/{x}/{y}.png`, source_code: 'maps' })

test('URLs of an earlier base are named, with the source to scan', async () => {
  stubService(() => ({ tile_base_url: NOW }))
  show(<EarlierBase basemaps={[at(NOW), at('http://127.0.0.1:8910')]} />)
  await screen.findByText(en.basemaps.earlierBase('http://127.0.0.1:8910', NOW))
  expect(screen.getByRole('link', { name: 'Scan source maps' }).getAttribute('href')).toContain('/sources/maps')
})

test('URLs of the current base have no warning', async () => {
  const sent = stubService(() => ({ tile_base_url: NOW }))
  const { container } = show(<EarlierBase basemaps={[at(NOW)]} />)
  await waitFor(() => expect(sent).toHaveLength(1))
  expect(container.querySelector('[role=alert], .mantine-Alert-root')).toBeNull()
})
