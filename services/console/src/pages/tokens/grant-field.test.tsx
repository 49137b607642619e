// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { show } from '../../testing/render.js'
import { type Grant, GrantField, NO_GRANT } from './grant-field.js'

const KNOWN = [
  { code: 'old-city', name: 'The city of old' },
  { code: 'city', name: 'The city' },
  { code: 'city-2', name: 'Another city' },
  { code: 'lakes', name: 'Lakes', aliases: ['w/l.json'] },
]

/** What the field holds after something was typed into it. */
async function type(text: string): Promise<() => Grant> {
  let current = { ...NO_GRANT, mode: 'chosen' as const } as Grant
  function Field() {
    const [grant, setGrant] = useState(current)
    current = grant
    return <GrantField label="Basemaps" known={KNOWN} value={grant} onChange={setGrant} />
  }
  show(<Field />)
  if (text !== '')
    await userEvent.setup({ delay: null }).type(screen.getByPlaceholderText('Type to find a code or a name'), text)
  return () => current
}

test('Enter takes what is suggested, not what is typed', async () => {
  const grant = await type('ci{Enter}')
  expect(grant()).toMatchObject({ codes: ['city'], unknown: '' })
})

test('Enter takes what is suggested also while no list is open to mark it', async () => {
  const grant = await type('ci{Escape}{Enter}')
  expect(grant()).toMatchObject({ codes: ['city'], unknown: '' })
})

test('nothing can be typed before it is known what exists', () => {
  show(<GrantField label="Basemaps" known={[]} loading value={{ ...NO_GRANT, mode: 'chosen' }} />)
  expect(screen.getByPlaceholderText('Type to find a code or a name')).toHaveProperty('disabled', true)
})

test('a code that is written in full comes before those that contain it', async () => {
  const grant = await type('city{Enter}')
  expect(grant().codes).toEqual(['city'])
})

test('a code that nothing has is granted after a second yes', async () => {
  const grant = await type('cty{Enter}')
  expect(grant()).toMatchObject({ codes: [], unknown: 'cty' })
  await screen.findByText('Nothing has the code “cty”')
  await userEvent.click(screen.getByRole('button', { name: 'Grant “cty” all the same' }))
  expect(grant()).toMatchObject({ codes: ['cty'], unknown: '' })
})

test('a code that nothing has can be left out, also when the field was left with it', async () => {
  const grant = await type('cty')
  await userEvent.tab()
  expect(grant()).toMatchObject({ codes: [], unknown: 'cty' })
  await userEvent.click(screen.getByRole('button', { name: 'Leave it out' }))
  expect(grant()).toMatchObject({ codes: [], unknown: '' })
})

test('a vector may be named by its path as well', async () => {
  const grant = await type('w/l.json{Enter}')
  expect(grant()).toMatchObject({ codes: ['w/l.json'], unknown: '' })
})
