// @vitest-environment happy-dom
import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { useTyped } from './use-typed.js'

/** A field whose value is kept elsewhere: a text that it sends returns as its value only if the test says so. */
function show() {
  const sent: string[] = []
  function Field({ value }: { value: string }) {
    const { text, type, take } = useTyped(value, (text) => sent.push(text), null)
    return (
      <input
        value={text}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && take()}
      />
    )
  }
  const { rerender } = render(<Field value="" />)
  const keep = (value: string) => act(() => rerender(<Field value={value} />))
  return { sent, keep, field: screen.getByRole<HTMLInputElement>('textbox') }
}

test('letters typed before the kept value arrives are not lost', async () => {
  const { sent, keep, field } = show()
  await userEvent.type(field, 'Har{Enter}')
  await userEvent.type(field, 'bour')
  keep('Har')
  expect(field.value).toBe('Harbour')
  await userEvent.type(field, '{Enter} authority{Enter}')
  keep('Harbour authority')
  expect([field.value, sent]).toEqual(['Harbour authority', ['Har', 'Harbour', 'Harbour authority']])
})

test('an earlier text that arrives late does not replace a later one', async () => {
  const { keep, field } = show()
  await userEvent.type(field, 'a{Enter}b{Enter}')
  keep('a')
  expect(field.value).toBe('ab')
  keep('ab')
  expect(field.value).toBe('ab')
})

test('an external value, for example after Back, replaces the text', async () => {
  const { keep, field } = show()
  await userEvent.type(field, 'a{Enter}')
  keep('a')
  keep('')
  expect(field.value).toBe('')
})
