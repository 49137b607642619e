import type { TargetTrial } from '@gateway/contracts/target.js'
import { Alert, Code, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import IconPlugConnected from '~icons/plug-connected'
import { useTryTarget } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import Modal from '../../ui/modal.js'
import { ServerText } from '../../ui/server-text.js'
import { useFormats } from '../../ui/use-formats.js'
import { ActionButton } from '../../ui/write-button.js'
import { SentRequestText } from './sent-request.js'

/** Sends a test request the same way as a push, and shows the request and its result. */
export function TryButton({ code }: { code: string }) {
  const t = useTexts().pushes
  const [trial, setTrial] = useState<TargetTrial | null>(null)
  return (
    <>
      <ActionButton
        needs="admin"
        size="xs"
        variant="default"
        icon={IconPlugConnected}
        write={useTryTarget(code)}
        onDone={setTrial}
        failed={t.tryFailed}
        aria-label={`${t.tryTarget}: ${code}`}
      >
        {t.tryTarget}
      </ActionButton>
      <Modal opened={trial !== null} onClose={() => setTrial(null)} title={`${t.tryTarget}: ${code}`} size="xl">
        {trial !== null && <Outcome trial={trial} />}
      </Modal>
    </>
  )
}

function Outcome({ trial }: { trial: TargetTrial }) {
  const { delivered, message, answer, request, duration_ms: ms } = trial
  const t = useTexts().pushes
  const formats = useFormats()
  return (
    <Stack>
      <Alert color={delivered ? 'teal' : 'red'} title={delivered ? t.tryDone(formats.number(ms)) : t.tryFailed}>
        <ServerText text={message} code={trial.message_code} params={trial.message_params} />
      </Alert>
      {answer !== '' && (
        <Stack gap="xs">
          <Text fw={550}>{t.answer}</Text>
          <Code block className="wrap">
            {answer}
          </Code>
        </Stack>
      )}
      {request !== null && (
        <Stack gap="xs">
          <Text fw={550}>{t.request}</Text>
          <SentRequestText request={request} />
        </Stack>
      )}
    </Stack>
  )
}
