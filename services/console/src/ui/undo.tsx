import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { createElement, useState } from 'react'
import { useTexts } from '../texts/texts.js'
import { notifyDone, notifyFailed } from './notify.js'

/** Longer than other messages stay, because the user reads it and decides. */
const SHOWN_MS = 12_000

/** Reports a success, and offers to undo it. */
export function notifyUndoable(title: string, undo: () => Promise<unknown>): void {
  const id = `undo-${title}`
  const message = createElement(Undo, { undo, close: () => notifications.hide(id) })
  notifications.show({ id, title, message, color: 'teal', role: 'status', autoClose: SHOWN_MS } as never)
}

function Undo({ undo, close }: { undo: () => Promise<unknown>; close: () => void }) {
  const t = useTexts().work
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      await undo()
      notifyDone(t.undone)
    } catch (error) {
      notifyFailed(t.undoFailed, error)
    }
    close()
  }
  return (
    <Group justify="flex-end" mt={4}>
      <Button size="compact-sm" variant="light" loading={busy} onClick={() => void run()}>
        {t.undo}
      </Button>
    </Group>
  )
}
