// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { RuleForm } from './rule-form.js'

test('a recipient that was entered is not lost without a question, and is saved without one', async () => {
  const sent = stubService(() => ({}))
  const { router } = show(<RuleForm />)
  const email = screen.getByLabelText('E-mail address')
  await userEvent.type(email, 'maps@example.org')
  act(() => router.navigate('/elsewhere'))
  await screen.findByText('Leave without saving?')
  await userEvent.click(screen.getByRole('button', { name: 'Stay' }))
  expect(email).toHaveProperty('value', 'maps@example.org')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByDisplayValue('')
  expect(sent.find(({ method }) => method === 'POST')?.body).toMatchObject({ email: 'maps@example.org' })
  act(() => router.navigate('/elsewhere'))
  await screen.findByText('elsewhere')
})
