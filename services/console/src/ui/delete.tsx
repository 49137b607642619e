import { Checkbox, Text } from '@mantine/core'
import { useState } from 'react'
import { useDelete } from '../api/catalog.js'
import type { Call } from '../api/client.js'
import { useNavigate } from '../router/hooks.js'
import { SAVED } from '../router/router.js'
import { useTexts } from '../texts/texts.js'
import { ConfirmButton } from './confirm.js'
import { notifyDone } from './notify.js'
import { shortText } from './shown-text.js'

interface DeleteButtonProps {
  /** returns the request that deletes the record, with or without its files */
  readonly deletion: (files: boolean) => Call
  readonly name: string
  /** explains which data is deleted and which data stays */
  readonly words: string
  /** page to open afterwards */
  readonly to: string
  /** true if files may be deleted too, which holds for layers that were sliced here */
  readonly withFiles?: boolean
}

/** Deletes a record after confirmation. */
export function DeleteButton({ deletion, name, words, to, withFiles = false }: DeleteButtonProps) {
  const t = useTexts().remove
  const go = useNavigate()
  const [files, setFiles] = useState(false)
  const short = shortText(name)
  const remove = useDelete(deletion, () => {
    notifyDone(t.done(short))
    go(to, SAVED)
  })
  return (
    <ConfirmButton
      button={{ needs: 'admin', variant: 'light', color: 'red', className: 'danger' }}
      title={t.title(short)}
      action={t.remove}
      danger
      write={remove}
      command={remove.commandOf(withFiles && files)}
      onConfirm={() => remove.mutate(withFiles && files)}
      failed={t.failed}
    >
      <Text>{words}</Text>
      {withFiles && (
        <Checkbox
          label={t.files}
          description={t.filesHint}
          checked={files}
          onChange={(event) => setFiles(event.currentTarget.checked)}
        />
      )}
    </ConfirmButton>
  )
}
