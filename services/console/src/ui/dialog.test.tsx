// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { show } from '../testing/render.js'
import { Dialog } from './dialog.js'

const closed = () => waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())

test('a dialog gives the focus back when it closes, the first time too', async () => {
  function Asks() {
    const [opened, setOpened] = useState(false)
    return (
      <>
        <button type="button" onClick={() => setOpened(true)}>
          Ask
        </button>
        <Dialog opened={opened} onClose={() => setOpened(false)} title="Sure?">
          <button type="button">Yes</button>
        </Dialog>
      </>
    )
  }
  show(<Asks />)
  for (let i = 0; i < 2; i++) {
    await userEvent.click(screen.getByRole('button', { name: 'Ask' }))
    await screen.findByRole('dialog')
    await waitFor(() => expect(screen.getByRole('dialog').contains(document.activeElement)).toBe(true))
    await userEvent.keyboard('{Escape}')
    await closed()
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Ask' })))
  }
})

test('a dialog that is unmounted while it is open gives the focus to the page if its button is gone', async () => {
  function Asks() {
    const [asked, setAsked] = useState<boolean | null>(false)
    const end = () => setAsked(null)
    return (
      <main id="main" tabIndex={-1}>
        {asked !== null && (
          <button type="button" onClick={() => setAsked(true)}>
            Ask
          </button>
        )}
        {asked && (
          <Dialog opened onClose={end} title="Sure?">
            <button type="button">Yes</button>
          </Dialog>
        )}
      </main>
    )
  }
  show(<Asks />)
  await userEvent.click(screen.getByRole('button', { name: 'Ask' }))
  await screen.findByRole('dialog')
  await userEvent.keyboard('{Escape}')
  await closed()
  await waitFor(() => expect(document.activeElement?.id).toBe('main'))
})
