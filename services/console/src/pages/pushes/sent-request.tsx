import type { SentRequest } from '@gateway/contracts/push.js'
import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useTexts } from '../../texts/texts.js'
import { CopyBlock } from '../../ui/copy.js'
import Modal from '../../ui/modal.js'

/** Opens the request of an attempt exactly as it was sent. */
export function SentRequestButton({ request }: { request: SentRequest | null }) {
  const t = useTexts().pushes
  const [opened, { open, close }] = useDisclosure()
  if (request === null) return <>–</>
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={open}>
        {t.showRequest}
      </Button>
      <Modal opened={opened} onClose={close} title={t.request} size="xl">
        <SentRequestText request={request} />
      </Modal>
    </>
  )
}

/** Request line, headers and the first part of the body. */
export function SentRequestText({ request }: { request: SentRequest }) {
  const t = useTexts().pushes
  const { method, url, headers, body } = request
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <Stack gap="xs">
      <CopyBlock text={[`${method} ${url}`, ...lines, '', indented(body)].join('\n')} what={t.request} />
      <Text size="sm" c="dimmed">
        {t.requestHint}
      </Text>
    </Stack>
  )
}

/** Indents JSON. Truncated or other text stays as it is. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
