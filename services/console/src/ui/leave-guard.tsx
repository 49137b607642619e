import { Button, Group, Stack, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useGuard } from '../router/hooks.js'
import type { Place } from '../router/places.js'
import { SAVED } from '../router/router.js'
import { useTexts } from '../texts/texts.js'
import Modal from './modal.js'

/** The shown part of a page: another tab unmounts the forms of this one. */
const shownPart = ({ pathname, search }: Place) => `${pathname} ${new URLSearchParams(search).get('tab') ?? ''}`

interface LeaveGuardProps {
  /** true if leaving discards input; called when the page is about to be left */
  readonly when: () => boolean
  readonly title: string
  readonly children: string
}

/** Asks before leaving a page would discard its content. At most one guard may be mounted. */
export function LeaveGuard({ when, title, children }: LeaveGuardProps) {
  const t = useTexts()
  const latest = useRef(when)
  latest.current = when
  const blocked = useGuard((from, to, move) => {
    // With Back the state belongs to an earlier navigation, which may have followed the save of another form.
    const saved = move !== 'pop' && to.state === SAVED.state
    return shownPart(from) !== shownPart(to) && !saved && latest.current()
  })
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      if (latest.current()) event.preventDefault()
    }
    window.addEventListener('beforeunload', onUnload)
    return () => window.removeEventListener('beforeunload', onUnload)
  }, [])
  const stay = () => blocked?.stay()
  return (
    // The dialog is loaded with the form: it must open while the service is away.
    <Modal opened={blocked !== null} onClose={stay} title={title} zIndex={400}>
      <Stack>
        <Text>{children}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => blocked?.proceed()}>
            {t.leave.leave}
          </Button>
          <Button onClick={stay} data-autofocus>
            {t.leave.stay}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** The guard of a form: `isDirty` returns true if the user has entered something. */
export function FormGuard({ isDirty }: { isDirty: () => boolean }) {
  const t = useTexts().leave
  return (
    <LeaveGuard when={isDirty} title={t.formTitle}>
      {t.form}
    </LeaveGuard>
  )
}
