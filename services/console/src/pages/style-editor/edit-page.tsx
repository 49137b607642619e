import type { AdminStyle } from '@gateway/contracts/style.js'
import type { StyleJson } from '@gateway/styles/style-json.js'
import { Alert, Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { segment } from '../../api/client.js'
import { IMPORTED_STYLES, type StyleDocument, styleDocumentQuery, styleQuery } from '../../api/styles.js'
import { useNavigate, useParams } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { notifyFailed } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { shortText } from '../../ui/shown-text.js'
import { useFormats } from '../../ui/use-formats.js'
import { MaputnikButton } from './maputnik-button.js'
import { SaveButton } from './save-button.js'
import { StyleEditor } from './style-editor.js'
import { textOfStyle } from './style-edits.js'
import { copiedForm, storedForm } from './style-forms.js'
import { useCheck } from './use-check.js'
import { useDraft } from './use-draft.js'
import { useEditorTexts } from './use-editor-texts.js'

export function Page() {
  const t = useTexts()
  const e = useEditorTexts()
  const { code = '' } = useParams()
  const style = useQuery(styleQuery(code))
  const document = useQuery(styleDocumentQuery(code, null))
  const missing = { title: t.styles.noSuch(shortText(code)), back: { label: t.styles.title, to: '/styles' } }
  return (
    <Loaded query={style} what={t.styles.what} missing={missing}>
      {(style) => (
        <Frame
          title={e.title(style.name)}
          above={[
            { label: t.styles.title, to: '/styles' },
            { label: style.name, to: `/styles/${segment(code)}` },
          ]}
          actions={
            <>
              <MaputnikButton code={code} address={style.style_url} />
              <ButtonLink to={`/styles/compare?left=${segment(code)}`} variant="default">
                {t.styles.compare}
              </ButtonLink>
            </>
          }
        >
          <Loaded query={document} what={t.styles.what} missing={missing}>
            {(current) => <Editor key={code} style={style} current={current} />}
          </Loaded>
        </Frame>
      )}
    </Loaded>
  )
}

function Editor({ style, current }: { readonly style: AdminStyle; readonly current: StyleDocument }) {
  const t = useTexts()
  const e = useEditorTexts()
  const go = useNavigate()
  const { code } = style
  const stored = useMemo(() => storedForm(current.document, current.bases, code), [current, code])
  const draft = useDraft(stored)
  const { isDirty, isChangedElsewhere, reload, setSent } = useSaved(draft, stored, current.revision)
  const checked = useCheck(draft.text)
  const isOwn = style.source_code === IMPORTED_STYLES
  const [copyCode, setCopyCode] = useState(`${code}-copy`)
  const isValid = checked?.text !== draft.text || checked.problems.length === 0
  const textOf = (to: string) =>
    to === code ? draft.text : textOfStyle(copiedForm(draft.document, current.bases, code, to))
  return (
    <>
      <FormGuard isDirty={() => isDirty} />
      <StyleEditor
        code={code}
        opened={current}
        draft={draft}
        checked={checked}
        previewed={{ style_code: code }}
        save={
          <Stack gap="sm">
            {!isOwn && <Alert color="blue">{e.foreign(shortText(style.source_code))}</Alert>}
            {isChangedElsewhere && (
              <Alert color="orange" role="status">
                <Stack gap="xs" align="flex-start">
                  {t.leave.changed}
                  <Button size="xs" variant="default" onClick={reload}>
                    {t.leave.reload}
                  </Button>
                </Stack>
              </Alert>
            )}
            <Group align="flex-end" gap="sm">
              <Revisions code={code} current={current} onRead={draft.edit} />
              {!isOwn && (
                <TextInput
                  label={e.copyCode}
                  value={copyCode}
                  onChange={(event) => setCopyCode(event.currentTarget.value)}
                />
              )}
              <SaveButton
                code={isOwn ? code : copyCode.trim()}
                isNew={!isOwn}
                text={textOf(isOwn ? code : copyCode.trim())}
                disabled={!isValid || (isOwn && !isDirty)}
                {...(isOwn
                  ? { onSent: (revision, text) => setSent({ revision, text }) }
                  : { onSaved: (saved) => go(`/styles/${segment(saved)}/edit`, SAVED) })}
              />
            </Group>
          </Stack>
        }
      />
    </>
  )
}

/** Compares a draft with what is stored. A style that somebody else changes replaces an untouched draft, and is reported otherwise. */
function useSaved(draft: ReturnType<typeof useDraft>, stored: StyleJson, revision: number) {
  const [base, setBase] = useState(() => ({ revision, text: textOfStyle(stored) }))
  const [sent, setSent] = useState<{ readonly revision: number; readonly text: string } | null>(null)
  const isDirty = draft.text !== base.text && draft.text !== sent?.text
  const isOther = revision !== base.revision
  const isSent = revision === sent?.revision
  const reload = () => {
    draft.edit(stored)
    setBase({ revision, text: textOfStyle(stored) })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another stored document, or a save, triggers this
  useEffect(() => {
    if (isOther && !isDirty) reload()
    else if (isOther && isSent) setBase({ revision, text: textOfStyle(stored) })
  }, [stored, revision, sent])
  return { isDirty, isChangedElsewhere: isOther && isDirty && !isSent, reload, setSent }
}

/** Reads an earlier document into the draft. Saving it makes it the current one again. */
function Revisions(props: {
  readonly code: string
  readonly current: StyleDocument
  readonly onRead: (style: StyleJson) => void
}) {
  const { code, current, onRead } = props
  const t = useTexts().styles
  const e = useEditorTexts()
  const formats = useFormats()
  const queries = useQueryClient()
  const read = async (revision: number) => {
    try {
      const earlier = await queries.fetchQuery(styleDocumentQuery(code, revision))
      onRead(storedForm(earlier.document, earlier.bases, code))
    } catch (error) {
      notifyFailed(e.notRead(revision), error)
    }
  }
  return (
    <NativeSelect
      label={e.goBack}
      value=""
      data={[
        { value: '', label: e.chooseRevision },
        ...current.revisions.map(({ revision, created_at: at }) => ({
          value: String(revision),
          label: `${revision === current.revision ? t.newest(revision) : revision} · ${formats.dateTime(at)}`,
        })),
      ]}
      onChange={(event) => void read(Number(event.currentTarget.value))}
    />
  )
}
