import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import IconShare from '~icons/share'
import { useCreatePreviewLink } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { CopyBlock } from '../../ui/copy.js'
import { Dialog } from '../../ui/dialog.js'
import { TextLink } from '../../ui/links.js'
import { Problem } from '../../ui/problem.js'
import { shortText } from '../../ui/shown-text.js'
import { Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'

const HOUR = 3_600
const DAY = 24 * HOUR
const LIFETIMES = [HOUR, DAY, 7 * DAY, 30 * DAY]

interface ShareButtonProps {
  readonly code: string
  readonly name: string
  /** undefined: the version that is the default when the link is opened */
  readonly version?: string
}

/** Creates a link that shows a map for a limited time to people without an account. */
export function ShareButton({ code, name, version }: ShareButtonProps) {
  const t = useTexts()
  const formats = useFormats()
  const [opened, { open, close }] = useDisclosure()
  const [lifetime, setLifetime] = useState(7 * DAY)
  const create = useCreatePreviewLink()
  const body = { basemap_code: code, ...(version !== undefined && { version }), expires_in_seconds: lifetime }
  const end = () => {
    create.cancel()
    close()
  }
  return (
    <>
      <WriteButton needs="admin" variant="default" icon={IconShare} onClick={open}>
        {t.share.share}
      </WriteButton>
      <Dialog opened={opened} onClose={end} title={t.share.title(shortText(name))} size="lg">
        <Stack>
          {create.data === undefined ? (
            <>
              <Text>{t.share.words}</Text>
              <NativeSelect
                label={t.share.lifetime}
                value={String(lifetime)}
                data={LIFETIMES.map((seconds) => ({ value: String(seconds), label: formats.duration(seconds) }))}
                onChange={(event) => setLifetime(Number(event.currentTarget.value))}
              />
              {create.error !== null && <Problem title={t.share.failed} error={create.error} />}
            </>
          ) : (
            <>
              <CopyBlock text={create.data.url} what={t.share.link} />
              <Text size="sm">
                {t.share.until} <Moment at={create.data.expires_at} />.{' '}
                <TextLink to={`/tokens/${create.data.id}`}>{t.share.end}</TextLink>
              </Text>
            </>
          )}
          <Group justify="space-between">
            <TextLink to={`/tokens?kind=preview&basemap_code=${encodeURIComponent(code)}`}>{t.share.others}</TextLink>
            <Group>
              <Button variant="default" onClick={end}>
                {create.data === undefined ? t.common.cancel : t.common.close}
              </Button>
              {create.data === undefined && (
                <WriteButton needs="admin" loading={create.isPending} onClick={() => create.mutate(body)}>
                  {t.share.create}
                </WriteButton>
              )}
            </Group>
          </Group>
          {create.data === undefined && <AsCommand command={() => create.commandOf(body)} />}
        </Stack>
      </Dialog>
    </>
  )
}
