import type { Token } from '@gateway/contracts/token.js'
import { Radio, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import IconRotate from '~icons/rotate'
import { systemQuery } from '../../api/system.js'
import { useRotateToken } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import { Confirm } from '../../ui/confirm.js'
import { shortText } from '../../ui/shown-text.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'
import { IssuedDialog } from './issued-dialog.js'

const HOUR = 3600
const DAY = 24 * HOUR
/** Offered times for which the old secret stays valid in addition to the new one. The API accepts any time up to the last. */
const OVERLAPS = [0, HOUR, DAY, 7 * DAY, 30 * DAY]

/** Rotates the secret of a token after confirmation, and shows the new secret. */
export function RotateButton({ token }: { token: Token }) {
  const t = useTexts().tokens
  const formats = useFormats()
  const [opened, { open, close }] = useDisclosure()
  const [overlap, setOverlap] = useState(DAY)
  const system = useQuery(systemQuery)
  const rotate = useRotateToken(token.id)
  return (
    <>
      <WriteButton needs="admin" variant="default" icon={IconRotate} onClick={open}>
        {t.rotate}
      </WriteButton>
      <Confirm
        opened={opened && !rotate.isSuccess}
        title={t.rotateTitle(shortText(token.name))}
        action={t.rotate}
        write={rotate}
        command={rotate.commandOf(overlap)}
        onConfirm={() => rotate.mutate(overlap, { onSuccess: close })}
        onClose={close}
        failed={t.rotateFailed}
      >
        <Text>{t.rotateWords}</Text>
        <Radio.Group label={t.overlap} value={String(overlap)} onChange={(seconds) => setOverlap(Number(seconds))}>
          <Stack gap="xs" mt="xs">
            {OVERLAPS.map((seconds) => (
              <Radio
                key={seconds}
                value={String(seconds)}
                label={seconds === 0 ? t.noOverlap : formats.duration(seconds)}
              />
            ))}
          </Stack>
        </Radio.Group>
      </Confirm>
      <IssuedDialog
        issued={rotate.data ?? null}
        title={t.rotated}
        apiBase={system.data?.api_base_url ?? window.location.origin}
        // The reset deletes the plaintext from memory.
        onClose={rotate.reset}
      />
    </>
  )
}
