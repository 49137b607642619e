import { Checkbox, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useDelete } from '../api/catalog.js'
import type { Call } from '../api/client.js'
import { useTexts } from '../texts/texts.js'
import { Confirm } from './confirm.js'
import { SAVED } from './leave-guard.js'
import { notifyDone } from './notify.js'
import { shortText } from './shown-text.js'
import { WriteButton } from './write-button.js'

interface DeleteButtonProps {
  /** what deletes it, with its files or without */
  readonly deletion: (files: boolean) => Call
  readonly name: string
  /** what goes with it, and what stays */
  readonly words: string
  /** where to go afterwards */
  readonly to: string
  /** whether files may be removed too: of layers that were sliced here */
  readonly withFiles?: boolean
}

/** Deletes a record after confirmation. */
export function DeleteButton({ deletion, name, words, to, withFiles = false }: DeleteButtonProps) {
  const t = useTexts().remove
  const go = useNavigate()
  const [opened, { open, close }] = useDisclosure()
  const [files, setFiles] = useState(false)
  const short = shortText(name)
  const remove = useDelete(deletion, () => {
    notifyDone(t.done(short))
    go(to, SAVED)
  })
  return (
    <>
      <WriteButton needs="admin" variant="light" color="red" className="danger" onClick={open}>
        {t.remove}
      </WriteButton>
      <Confirm
        opened={opened}
        title={t.title(short)}
        action={t.remove}
        danger
        write={remove}
        command={remove.commandOf(withFiles && files)}
        onConfirm={() => remove.mutate(withFiles && files)}
        onClose={close}
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
      </Confirm>
    </>
  )
}
