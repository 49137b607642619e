import type { SigningKey } from '@gateway/contracts/signed-url.js'
import { Alert, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import IconRotate from '~icons/rotate'
import IconSignature from '~icons/signature'
import { call } from '../../api/client.js'
import { listOf } from '../../api/list.js'
import { useWrite } from '../../api/use-write.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, momentColumn, monoColumn } from '../../ui/columns.js'
import { ConfirmButton } from '../../ui/confirm.js'
import { ButtonLink } from '../../ui/links.js'
import { notifyDone } from '../../ui/notify.js'
import { ServerListPage } from '../../ui/server-table.js'
import { Status } from '../../ui/status.js'
import { Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'

/** The signing keys, newest first. */
const SIGNING_KEYS = listOf('signing-keys', '/api/v1/admin/signing-keys', {})

/** @param seconds for which URLs signed by the current key stay valid */
function useRotateKey() {
  return useWrite(
    (seconds: number) => call('post', '/api/v1/admin/signing-keys/rotate', { body: { grace_seconds: seconds } }),
    { changes: ['signing-keys'] },
  )
}

const DAY = 86_400
const GRACES = [7 * DAY, 30 * DAY, DAY, 0]

/** The keys of signed URLs: one, or two during a rotation. */
export function Page() {
  const t = useTexts()
  const columns: readonly Column<SigningKey>[] = [
    monoColumn('id', t.signingKeys.key, ({ id }) => id),
    {
      id: 'state',
      header: t.common.status,
      value: ({ expires_at: end }) => end ?? '',
      cell: ({ expires_at: end }) =>
        end === null ? (
          <Status tone="good">{t.signingKeys.signs}</Status>
        ) : (
          <Status tone="off">{t.signingKeys.ending}</Status>
        ),
    },
    momentColumn('created', t.common.created, ({ created_at: at }) => at),
    momentColumn('from', t.signingKeys.from, ({ signs_from: at }) => at),
    {
      id: 'until',
      header: t.signingKeys.until,
      value: ({ expires_at: at }) => at ?? '',
      cell: ({ expires_at: at }) => (at === null ? t.signingKeys.untilReplaced : <Moment at={at} />),
    },
  ]
  return (
    <ServerListPage
      texts={t.signingKeys}
      icon={IconSignature}
      actions={<RotateKeyButton />}
      first={<ButtonLink to="/basemaps">{t.nav.basemaps}</ButtonLink>}
      source={SIGNING_KEYS}
      columns={columns}
      rowKey={({ id }) => id}
    />
  )
}

function RotateKeyButton() {
  const t = useTexts().signingKeys
  const formats = useFormats()
  const [grace, setGrace] = useState(GRACES[0] as number)
  const rotate = useRotateKey()
  const confirm = (close: () => void) =>
    rotate.mutate(grace, {
      onSuccess: ({ pending }) => {
        notifyDone(t.rotated, pending.length === 0 ? '' : t.pending(pending.length))
        close()
      },
    })
  return (
    <ConfirmButton
      button={{ needs: 'admin', variant: 'default', icon: IconRotate }}
      title={t.rotateTitle}
      action={t.rotate}
      danger={grace === 0}
      write={rotate}
      command={rotate.commandOf(grace)}
      onConfirm={confirm}
      failed={t.rotateFailed}
    >
      <Text>{t.rotateWords}</Text>
      <Radio.Group label={t.grace} value={String(grace)} onChange={(seconds) => setGrace(Number(seconds))}>
        <Stack gap="xs" mt="xs">
          {GRACES.map((seconds) => (
            <Radio key={seconds} value={String(seconds)} label={seconds === 0 ? t.atOnce : formats.duration(seconds)} />
          ))}
        </Stack>
      </Radio.Group>
      {grace === 0 && <Alert color="orange">{t.endsAll}</Alert>}
    </ConfirmButton>
  )
}
