// @vitest-environment happy-dom
import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { SeedForm } from './new-seed-page.js'

const VERSION = { version: 'live', min_zoom: 2, max_zoom: 14, bounds: [5, 45, 11, 48] } as unknown as BasemapVersion
const ESTIMATE = { tiles: 1234, requests: 320, bytes_estimate: 5_000_000, seconds: 32 }

test('the estimate of a seed is that of its area and rate, and the same area is fetched', async () => {
  const asked: { path: string; body: unknown }[] = []
  stubService((request) => {
    asked.push(request as never)
    return ESTIMATE
  })
  show(<SeedForm code="town" version={VERSION} />)
  await screen.findByText('1,234')
  expect(screen.getByText('320')).toBeTruthy()
  await userEvent.type(screen.getByRole('textbox', { name: /Bounds/ }), '6 46 7 47')
  await userEvent.click(screen.getByRole('button', { name: 'Start' }))
  const said = JSON.stringify(asked)
  expect(said).toContain('[5,45,11,48]')
  expect(said).toContain('[6,46,7,47]')
})
