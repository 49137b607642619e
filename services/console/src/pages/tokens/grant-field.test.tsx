// @vitest-environment happy-dom
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import type { FindCodes } from '../../api/catalog.js'
import { ApiError } from '../../api/client.js'
import { show } from '../../testing/render.js'
import { GrantField } from './grant-field.js'
import { type Grant, NO_GRANT } from './token-values.js'

const KNOWN = [
  { code: 'old-city', name: 'The city of old' },
  { code: 'city', name: 'The city' },
  { code: 'city-2', name: 'Another city' },
  { code: 'lakes', name: 'Lakes', aliases: ['w/l.json'] },
]

/** Searches as the service does: codes that contain the text, in the order of codes. */
const find = async (text: string) =>
  KNOWN.filter(({ code, name, aliases = [] }) => [code, name, ...aliases].some((one) => one.includes(text)))

/** The client of the queries of the last field. */
let queries: QueryClient

/** Types into the field and returns a getter for its value. */
async function type(text: string, by: FindCodes = find): Promise<() => Grant> {
  let current = { ...NO_GRANT, mode: 'chosen' as const } as Grant
  function Field() {
    const [grant, setGrant] = useState(current)
    current = grant
    queries = useQueryClient()
    return <GrantField label="Basemaps" kind="basemaps" find={by} value={grant} onChange={setGrant} />
  }
  show(<Field />)
  if (text !== '')
    await userEvent.setup({ delay: null }).type(screen.getByPlaceholderText('Search by code or name'), text)
  return () => current
}

test('Enter takes the suggestion, not the typed text', async () => {
  const grant = await type('ci{Enter}')
  await waitFor(() => expect(grant()).toMatchObject({ codes: ['city'], unknown: '' }))
})

test('Enter takes the suggestion even if no list is open to mark it', async () => {
  const grant = await type('ci{Escape}{Enter}')
  await waitFor(() => expect(grant()).toMatchObject({ codes: ['city'], unknown: '' }))
})

test('Enter waits for a pending search, and takes the text typed by then, not the shown suggestion', async () => {
  let answer = () => {}
  const slowly = async (text: string) => {
    if (text !== '') await new Promise<void>((resolve) => (answer = resolve))
    return find(text)
  }
  const grant = await type('ci{Enter}', slowly)
  expect(grant()).toMatchObject({ codes: [], unknown: '', searching: true })
  answer()
  await waitFor(() => expect(grant()).toMatchObject({ codes: ['city'], unknown: '', searching: false }))
})

test('Enter takes the suggestion of a slow search although the field has been left', async () => {
  const answers: (() => void)[] = []
  const slowly: FindCodes = async (text, signal) => {
    await new Promise<void>((resolve) => answers.push(resolve))
    signal.throwIfAborted()
    return find(text)
  }
  const grant = await type('ci', slowly)
  const isRead = () =>
    queries
      .getQueryCache()
      .find({ queryKey: ['basemaps', 'find', 'ci'] })
      ?.isActive() === true
  await waitFor(() => expect(isRead()).toBe(true))
  await userEvent.keyboard('{Enter}')
  await userEvent.tab()
  await waitFor(() => expect(isRead()).toBe(false))
  await waitFor(() => {
    for (const answer of answers) answer()
    expect(grant()).toMatchObject({ codes: ['city'], unknown: '', searching: false })
  })
})

test('a failed search grants nothing and reports the failure', async () => {
  const grant = await type('ci{Enter}', async (text) => {
    if (text !== '') throw new ApiError(403, 'not for this role')
    return []
  })
  await screen.findByText('Codes cannot be looked up')
  expect(grant()).toMatchObject({ codes: [], unknown: '' })
})

test('an exact match comes before codes that contain the text', async () => {
  const grant = await type('city{Enter}')
  await waitFor(() => expect(grant().codes).toEqual(['city']))
})

test('an unknown code is granted after a second confirmation', async () => {
  const grant = await type('cty{Enter}')
  await waitFor(() => expect(grant()).toMatchObject({ codes: [], unknown: 'cty' }))
  await screen.findByText('The code “cty” does not exist')
  await userEvent.click(screen.getByRole('button', { name: 'Grant “cty” anyway' }))
  await waitFor(() => expect(grant()).toMatchObject({ codes: ['cty'], unknown: '' }))
})

test('an unknown code can be left out, even after the field lost focus with it', async () => {
  const grant = await type('cty')
  await userEvent.tab()
  await waitFor(() => expect(grant()).toMatchObject({ codes: [], unknown: 'cty' }))
  await userEvent.click(screen.getByRole('button', { name: 'Remove it' }))
  expect(grant()).toMatchObject({ codes: [], unknown: '' })
})

test('a vector may also be named by its path', async () => {
  const grant = await type('w/l.json{Enter}')
  await waitFor(() => expect(grant()).toMatchObject({ codes: ['w/l.json'], unknown: '' }))
})
