import type { StyleJson } from '@gateway/styles/style-json.js'
import { Alert, Button, List, Stack } from '@mantine/core'
import { type ReactNode, useMemo, useState } from 'react'
import IconArrowBackUp from '~icons/arrow-back-up'
import IconCode from '~icons/code'
import type { Previewed } from '../../api/preview.js'
import type { StyleDocument } from '../../api/styles.js'
import { useTexts } from '../../texts/texts.js'
import { Section } from '../../ui/section.js'
import { DraftMap } from './draft-map.js'
import { JsonEditor } from './json-editor.js'
import { LayerForm } from './layer-form.js'
import { LayerOrder } from './layer-order.js'
import { layersIn, withMoved } from './style-edits.js'
import type { Checked } from './use-check.js'
import type { useDraft } from './use-draft.js'
import { useEditorTexts } from './use-editor-texts.js'

interface StyleEditorProps {
  readonly code: string
  /** the document that the page opened with, for readers */
  readonly opened: StyleDocument
  readonly draft: ReturnType<typeof useDraft>
  readonly checked: Checked | null
  /** what a token for the map reads */
  readonly previewed: Previewed
  /** buttons and fields that save */
  readonly save: ReactNode
}

/** A style with a map that follows every change, the simple properties of its layers, and its text. */
export function StyleEditor({ code, opened, draft, checked, previewed, save }: StyleEditorProps) {
  const t = useTexts().styles
  const e = useEditorTexts()
  const layers = useMemo(() => layersIn(draft.document), [draft.document])
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const layer = layers.find(({ id }) => id === chosen) ?? layers.at(-1)
  const [isTextShown, showText] = useState(false)
  const problems = checked?.text === draft.text ? checked.problems : []
  const edit = (style: StyleJson) => draft.edit(style)
  return (
    <Stack>
      {save}
      {problems.length > 0 && !isTextShown && (
        <Alert color="orange" title={e.invalid} role="status">
          <List size="sm">
            {problems.map(({ line, message }) => (
              <List.Item key={`${line} ${message}`}>
                <bdi>{message}</bdi>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <div className="map-and-side style-editor">
        <DraftMap code={code} opened={opened} style={checked?.style ?? null} previewed={previewed} />
        <div className="side">
          <Section
            title={t.layers}
            actions={
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconArrowBackUp size={14} />}
                disabled={draft.steps.length === 0}
                onClick={draft.undo}
              >
                {e.undo}
              </Button>
            }
          >
            <LayerOrder
              layers={layers}
              chosen={layer?.id}
              onChoose={setChosen}
              onMove={(id, by) => edit(withMoved(draft.document, id, by))}
            />
          </Section>
          {layer !== undefined && (
            <Section title={layer.id} key={layer.id}>
              <LayerForm style={draft.document} layer={layer} onChange={edit} />
            </Section>
          )}
        </div>
      </div>
      <Section
        title={e.json}
        note={e.jsonNote}
        actions={
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconCode size={14} />}
            aria-expanded={isTextShown}
            onClick={() => showText(!isTextShown)}
          >
            {isTextShown ? e.hideJson : e.showJson}
          </Button>
        }
      >
        {isTextShown && (
          <JsonEditor text={draft.text} onType={draft.type} problems={problems} warnings={checked?.warnings ?? []} />
        )}
      </Section>
    </Stack>
  )
}
