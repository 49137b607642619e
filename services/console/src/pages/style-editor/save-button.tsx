import { useRef } from 'react'
import { useImportStyle } from '../../api/styles.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { shortText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'
import { useEditorTexts } from './use-editor-texts.js'

interface SaveButtonProps {
  readonly code: string
  /** true if no style may have the code yet */
  readonly isNew: boolean
  readonly text: string
  readonly disabled: boolean
  /** called before the page is refreshed, with the document that was sent */
  readonly onSent?: (revision: number, text: string) => void
  /** called unless the page was left in the meantime */
  readonly onSaved?: (code: string) => void
}

/** Saves a document as a new revision of an imported style. */
export function SaveButton({ code, isNew, text, disabled, onSent, onSaved }: SaveButtonProps) {
  const t = useTexts()
  const e = useEditorTexts()
  const sent = useRef('')
  const write = useImportStyle((style) => {
    notifyDone(e.saved(shortText(style.name), style.revision))
    onSent?.(style.revision, sent.current)
  })
  const save = () => {
    const file = new File([text], 'style.json', { type: 'application/json' })
    sent.current = text
    write.mutate(
      { file, code, isNew },
      { onSuccess: (style) => onSaved?.(style.code), onError: (error) => notifyFailed(e.notSaved, error) },
    )
  }
  return (
    <WriteButton needs="operator" disabled={disabled || code === ''} loading={write.isPending} onClick={save}>
      {isNew ? e.saveAs : t.common.save}
    </WriteButton>
  )
}
