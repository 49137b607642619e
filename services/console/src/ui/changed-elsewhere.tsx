import { Alert, Button, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useState } from 'react'
import { useTexts } from '../texts/texts.js'

interface ChangedElsewhereProps<T extends object> {
  readonly form: UseFormReturnType<T>
  /** the values that the service has stored */
  readonly stored: T
  /** true while the form is being saved: the stored values then change because of the form itself */
  readonly saving: boolean
}

/** Keeps an untouched form equal to the stored values. Once the user has entered something, only reports that the stored values changed. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the stored values triggers this
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
