import { ActionIcon, Box, Code, Group } from '@mantine/core'
import { useTimeout } from '@mantine/hooks'
import { useState } from 'react'
import IconCheck from '~icons/check'
import IconCopy from '~icons/copy'
import { useTexts } from '../texts/texts.js'
import { copyText } from './copy-text.js'
import { Hint } from './hint.js'
import { notifyFailed } from './notify.js'

const SHOWN_MS = 1500

/** A button that copies; `what` names the text for screen readers. */
function Copy({ text, what }: { text: string; what: string }) {
  const t = useTexts()
  const [copied, setCopied] = useState(false)
  const { start } = useTimeout(() => setCopied(false), SHOWN_MS)
  const copy = async () => {
    if (!(await copyText(text))) return notifyFailed(t.common.copyFailed, t.common.copyFailedAdvice)
    setCopied(true)
    start()
  }
  return (
    <Hint label={copied ? t.common.copied : t.common.copy}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'teal' : 'gray'}
        onClick={() => void copy()}
        aria-label={copied ? t.common.copied : t.common.copyThat(what)}
      >
        {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Hint>
  )
}

/** A text to copy, such as a URL or a command. */
export function CopyBlock({ text, what }: { text: string; what: string }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Box flex={1} miw={0}>
        <Code block tabIndex={0} aria-label={what} role="group" className="copy-block">
          {text}
        </Code>
      </Box>
      <Copy text={text} what={what} />
    </Group>
  )
}

/** A URL or a path with a button that copies it. */
export function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <span className="with-copy">
      <bdi className="mono">{text}</bdi>
      <Copy text={text} what={what} />
    </span>
  )
}
