// @vitest-environment happy-dom
import { act, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../testing/render.js'
import { en } from '../texts/en.js'
import { navigation } from './navigation.js'
import { SHOW_SHORTCUTS, Shortcuts } from './shortcuts.js'

test('the shortcuts list every page of the navigation', async () => {
  show(<Shortcuts />)
  act(() => void window.dispatchEvent(new Event(SHOW_SHORTCUTS)))
  const listed = within(await screen.findByRole('table'))
  const labels = navigation(en).flatMap(({ entries }) => entries.map(({ label }) => label))
  expect(labels.filter((label) => listed.queryByText(label) === null)).toEqual([])
})
