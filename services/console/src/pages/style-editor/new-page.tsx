import type { AdminVector } from '@gateway/contracts/vector.js'
import type { StyleJson } from '@gateway/styles/style-json.js'
import { Group, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { vectorQuery } from '../../api/catalog.js'
import { segment, send } from '../../api/client.js'
import { previewTokenQuery, TOKEN_HEADER } from '../../api/preview.js'
import type { StyleDocument } from '../../api/styles.js'
import { systemQuery } from '../../api/system.js'
import { useNavigate } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { shortText } from '../../ui/shown-text.js'
import { useParameter } from '../../ui/use-parameter.js'
import { SaveButton } from './save-button.js'
import { StyleEditor } from './style-editor.js'
import { textOfStyle } from './style-edits.js'
import { storedForm } from './style-forms.js'
import { useCheck } from './use-check.js'
import { useDraft } from './use-draft.js'
import { useEditorTexts } from './use-editor-texts.js'

/** A new style, which begins as the plain style of the vector that the URL names. */
export function Page() {
  const t = useTexts()
  const e = useEditorTexts()
  const [vector] = useParameter('vector')
  const query = useQuery({ ...vectorQuery(vector ?? ''), enabled: vector !== null })
  return (
    <Frame title={e.newTitle(shortText(vector ?? ''))} above={[{ label: t.styles.title, to: '/styles' }]}>
      <Loaded
        query={query}
        what={t.vectors.what}
        missing={{ title: t.vectors.noSuch(shortText(vector ?? '')), back: { label: t.vectors.title, to: '/vectors' } }}
      >
        {(found) => <FromVector key={found.code} vector={found} />}
      </Loaded>
    </Frame>
  )
}

function FromVector({ vector: { code } }: { readonly vector: AdminVector }) {
  const t = useTexts().styles
  const system = useQuery(systemQuery)
  const token = useQuery(previewTokenQuery({ vector_code: code })).data?.token
  const plain = useQuery({
    queryKey: ['styles', 'plain', code],
    queryFn: ({ signal }) =>
      send<StyleJson>(
        {
          method: 'GET',
          path: `/vectors/${segment(code)}/style.json`,
          headers: { [TOKEN_HEADER]: token ?? '' },
        },
        signal,
      ),
    enabled: token !== undefined,
    // The draft begins with it, and must not follow it.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Loaded query={system} what={t.what}>
      {({ tile_base_url: tileBase, vector_base_url: vectorBase }) => (
        <Loaded query={plain} what={t.what}>
          {(document) => <Editor vector={code} document={document} bases={[...new Set([tileBase, vectorBase])]} />}
        </Loaded>
      )}
    </Loaded>
  )
}

interface EditorProps {
  readonly vector: string
  readonly document: StyleJson
  readonly bases: readonly string[]
}

function Editor({ vector, document, bases }: EditorProps) {
  const t = useTexts().styles
  const go = useNavigate()
  const [code, setCode] = useState(vector)
  const stored = useMemo(() => storedForm(document, bases, vector), [document, bases, vector])
  const draft = useDraft(stored)
  const checked = useCheck(draft.text)
  const opened: StyleDocument = { code: vector, revision: 0, revisions: [], bases: [...bases], document }
  return (
    <>
      <FormGuard isDirty={() => draft.text !== textOfStyle(stored)} />
      <StyleEditor
        code={vector}
        opened={opened}
        draft={draft}
        checked={checked}
        previewed={{ vector_code: vector }}
        save={
          <Group align="flex-end" gap="sm">
            <TextInput label={t.code} required value={code} onChange={(event) => setCode(event.currentTarget.value)} />
            <SaveButton
              code={code.trim()}
              isNew
              text={draft.text}
              disabled={checked?.text === draft.text && checked.problems.length > 0}
              onSaved={(saved) => go(`/styles/${segment(saved)}/edit`, SAVED)}
            />
          </Group>
        }
      />
    </>
  )
}
