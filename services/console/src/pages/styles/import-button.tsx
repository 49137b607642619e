import { FileInput, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import IconUpload from '~icons/upload'
import { segment } from '../../api/client.js'
import { importStyle, useImportStyle } from '../../api/styles.js'
import { useNavigate } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { ConfirmButton } from '../../ui/confirm.js'
import { notifyDone } from '../../ui/notify.js'
import { shortText } from '../../ui/shown-text.js'

const NO_FILE = new File([], '')

/** Uploads a style or a zip from this device. */
export function ImportButton({ of = '' }: { of?: string }) {
  const t = useTexts().styles
  const go = useNavigate()
  const [file, setFile] = useState<File | null>(null)
  const [code, setCode] = useState(of)
  const write = useImportStyle((style) => {
    notifyDone(t.importDone(shortText(style.name)))
    setFile(null)
    go(`/styles/${segment(style.code)}`)
  })
  const wanted = { file: file ?? NO_FILE, code: code.trim() }
  const confirm = (close: () => void) => {
    if (file !== null) write.mutate(wanted, { onSuccess: close })
  }
  return (
    <ConfirmButton
      button={{ needs: 'operator', icon: IconUpload, ...(of !== '' && { variant: 'default' }) }}
      title={t.importTitle}
      action={t.import}
      write={write}
      command={importStyle(wanted)}
      onConfirm={confirm}
      failed={t.importFailed}
    >
      <Text>{t.importWords}</Text>
      <FileInput
        label={t.file}
        accept=".zip,.json,application/zip,application/json"
        value={file}
        onChange={setFile}
        required
      />
      <TextInput
        label={t.code}
        description={t.codeHint}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
    </ConfirmButton>
  )
}
