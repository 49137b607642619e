import { Alert, Button, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useState } from 'react'
import { useTexts } from '../texts/texts.js'

interface ChangedElsewhereProps<T extends object> {
  readonly form: UseFormReturnType<T>
  /** what the service has */
  readonly stored: T
  /** the form is being saved: the change is its own */
  readonly saving: boolean
}

/** A form follows what is stored until something is entered; from then on it says that something else is stored, and keeps what was entered. */
export function ChangedElsewhere<T extends object>({ form, stored, saving }: ChangedElsewhereProps<T>) {
  const t = useTexts().leave
  const text = JSON.stringify(stored)
  const [shown, setShown] = useState(text)
  const changed = text !== shown
  const dirty = form.isDirty()
  const show = () => {
    form.setInitialValues(stored)
    form.setValues(stored)
    form.resetDirty(stored)
    setShown(text)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is stored is what is followed
  useEffect(() => {
    if (changed && (!dirty || JSON.stringify(form.getValues()) === text)) show()
  }, [text, dirty])
  if (!changed || !dirty || saving) return null
  return (
    <Alert color="orange" role="status">
      <Stack gap="xs" align="flex-start">
        {t.changed}
        <Button size="xs" variant="default" onClick={show}>
          {t.reload}
        </Button>
      </Stack>
    </Alert>
  )
}
