import { ActionIcon, Box, Code, Group, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useTexts } from '../texts/texts.js'
import { copyText } from './copy-text.js'
import { notifyFailed } from './notify.js'

const SHOWN_MS = 1500

/** A button that copies; `what` names the text for those who do not see it. */
export function Copy({ text, what }: { text: string; what: string }) {
  const t = useTexts()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = window.setTimeout(() => setCopied(false), SHOWN_MS)
    return () => window.clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    if (await copyText(text)) setCopied(true)
    else notifyFailed(t.common.copyFailed, t.common.copyFailedAdvice)
  }
  return (
    <Tooltip label={copied ? t.common.copied : t.common.copy}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'teal' : 'gray'}
        onClick={() => void copy()}
        aria-label={copied ? t.common.copied : t.common.copyThat(what)}
      >
        {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Tooltip>
  )
}

/** Text to be copied: an address, a command. */
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
