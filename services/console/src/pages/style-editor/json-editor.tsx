import type { StyleProblem } from '@gateway/styles/style-json.js'
import { Anchor, List, Text } from '@mantine/core'
import { useId, useRef } from 'react'
import { useEditorTexts } from './use-editor-texts.js'

interface JsonEditorProps {
  readonly text: string
  readonly onType: (text: string) => void
  readonly problems: readonly StyleProblem[]
  readonly warnings: readonly StyleProblem[]
}

/** The text of a style with the numbers of its lines. Lines with problems are marked, and each message leads to its line. */
export function JsonEditor({ text, onType, problems, warnings }: JsonEditorProps) {
  const t = useEditorTexts()
  const area = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLPreElement>(null)
  const listed = useId()
  const found = [...problems, ...warnings]
  const marked = new Set(found.map(({ line }) => line))
  const lines = text.split('\n')
  const goTo = (line: number) => {
    const field = area.current
    if (field === null) return
    const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
    field.focus()
    field.setSelectionRange(start, start + (lines[line - 1] ?? '').length)
    field.scrollTop = (field.scrollHeight / lines.length) * Math.max(0, line - 4)
  }
  return (
    <>
      <div className="json-editor">
        <pre ref={numbers} aria-hidden>
          {lines.map((_, i) => `${marked.has(i + 1) ? '▶ ' : ''}${i + 1}`).join('\n')}
        </pre>
        <textarea
          ref={area}
          aria-label={t.json}
          aria-invalid={problems.length > 0}
          aria-describedby={listed}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={text}
          onChange={(event) => onType(event.currentTarget.value)}
          onScroll={(event) => {
            if (numbers.current !== null) numbers.current.scrollTop = event.currentTarget.scrollTop
          }}
        />
      </div>
      <div id={listed} aria-live="polite">
        {found.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t.valid}
          </Text>
        ) : (
          <List size="sm">
            {found.map((problem) => (
              <List.Item key={`${problem.line} ${problem.message}`}>
                {problem.line !== null && (
                  <>
                    <Anchor component="button" type="button" size="sm" onClick={() => goTo(problem.line as number)}>
                      {t.line(problem.line)}
                    </Anchor>{' '}
                  </>
                )}
                {warnings.includes(problem) && `${t.warning} `}
                <bdi>{problem.message}</bdi>
              </List.Item>
            ))}
          </List>
        )}
      </div>
    </>
  )
}
