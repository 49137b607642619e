import type { SliceJob } from '@gateway/contracts/slice.js'
import { Checkbox, Text } from '@mantine/core'
import { useEffect, useMemo, useRef, useState } from 'react'
import { sliceLog } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { readableLog } from './log-text.js'
import { useFollowedText } from './use-followed-text.js'

/** The output of the tool as readable text, updated while the tool writes. */
export function JobLog({ job }: { job: SliceJob }) {
  const t = useTexts()
  const formats = useFormats()
  const { text, error, again } = useFollowedText(job.log_path !== '' ? sliceLog(job.id) : null)
  const words = useMemo(() => readableLog(text, t.slicing.logLines, formats), [text, t, formats])
  const [atEnd, setAtEnd] = useState(true)
  const box = useRef<HTMLPreElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text triggers the scrolling
  useEffect(() => {
    if (atEnd && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [text, atEnd])
  return (
    <Section
      title={t.slicing.log}
      actions={
        <Checkbox
          size="xs"
          label={t.slicing.follow}
          checked={atEnd}
          onChange={(event) => setAtEnd(event.currentTarget.checked)}
        />
      }
    >
      {error !== null && <Problem title={t.slicing.logFailed} error={error} onRetry={again} />}
      {text === '' ? (
        <Text c="dimmed">{t.slicing.logEmpty}</Text>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        <pre ref={box} className="log" tabIndex={0} role="log" aria-label={t.slicing.log}>
          {words}
        </pre>
      )}
    </Section>
  )
}
