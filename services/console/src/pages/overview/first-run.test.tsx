// @vitest-environment happy-dom
import type { EdgePresence } from '@gateway/contracts/edge.js'
import { act, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { Dashboard } from '../../api/system.js'
import { show } from '../../testing/render.js'
import { FirstRun } from './first-run.js'

const NEW = {
  ledger: { basemaps: 0, versions: 0, vectors: 0, versions_unavailable: 0, vectors_unavailable: 0, vectors_unbuilt: 0 },
  tokens: { active: 0, expired: 0, disabled: 0, items: [] },
  scan_sources: [{ code: 'layers' }],
} as unknown as Dashboard
const ledger = { ...NEW.ledger, basemaps: 1, versions: 1 }
const sources = [{ code: 'layers' }, { code: 'demo-basemaps' }, { code: 'city' }]
const ownToken = (last_used_at: string | null) => ({ name: 'field team', last_used_at })
const tokens = { ...NEW.tokens, active: 1, items: [ownToken(null)] }
const edge = (tiles: number) => ({ traffic: { tiles } }) as EdgePresence

test('a new gateway shows the first steps and links to the first one that is not done', async () => {
  show(<FirstRun dashboard={NEW} edges={[edge(0)]} />)
  await screen.findByRole('heading', { name: 'Welcome. There are no maps yet.' })
  expect(screen.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual(['/sources/new'])
})

test('a completed step is ticked, and the next one is offered', async () => {
  show(
    <FirstRun
      dashboard={{ ...NEW, ledger, tokens, scan_sources: sources } as unknown as Dashboard}
      edges={[edge(0)]}
    />,
  )
  await screen.findByRole('heading', { name: 'First steps' })
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'Add a scan sourcedone',
    'Issue a tokendone',
    'Open a map',
  ])
  expect(screen.getByRole('link').getAttribute('href')).toBe('/basemaps')
})

test('the list disappears after a map was opened by a token of the operator', () => {
  const used = { ...tokens, items: [ownToken('2026-11-27T10:00:00.000Z')] }
  const dashboard = { ...NEW, ledger, tokens: used, scan_sources: sources } as unknown as Dashboard
  show(<FirstRun dashboard={dashboard} edges={[edge(1)]} />)
  expect(screen.queryByRole('list')).toBeNull()
})

test('the demo completes no step, and the list can be dismissed', async () => {
  const demo = { ...NEW.tokens, active: 1, items: [{ name: 'demo', last_used_at: '2026-11-27T10:00:00.000Z' }] }
  const dashboard = { ...NEW, ledger, tokens: demo, scan_sources: [{ code: 'demo-vectors' }] } as unknown as Dashboard
  show(<FirstRun dashboard={dashboard} edges={[edge(9)]} />)
  expect((await screen.findAllByRole('listitem')).map(({ textContent }) => textContent)).toEqual([
    'Add a scan source',
    'Issue a token',
    'Open a map',
  ])
  act(() => screen.getByRole('button', { name: 'Dismiss' }).click())
  expect(screen.queryByRole('list')).toBeNull()
  localStorage.removeItem('first-steps.dismissed')
})

test('a viewer is not offered steps that need more rights', async () => {
  show(<FirstRun dashboard={NEW} edges={[edge(0)]} />, 'viewer')
  await screen.findByRole('heading', { name: 'Welcome. There are no maps yet.' })
  expect(screen.queryByRole('link')).toBeNull()
})
