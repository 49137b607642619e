import { NOTIFICATION_KINDS, type NotificationKind } from '@gateway/contracts/without-schemas.js'
import { Checkbox, Group, SegmentedControl, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { findTargets } from '../../api/catalog.js'
import { useSaveRule } from '../../api/notifications.js'
import { useTexts } from '../../texts/texts.js'
import { CodeSelect } from '../../ui/code-select.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { notifyDone } from '../../ui/notify.js'
import { Problem } from '../../ui/problem.js'
import { WriteButton } from '../../ui/write-button.js'

/** The form that adds a recipient of notifications. */
export function RuleForm() {
  const t = useTexts().work.notifications
  const [by, setBy] = useState<'email' | 'webhook'>('email')
  const [email, setEmail] = useState('')
  const [target, setTarget] = useState('')
  const [kinds, setKinds] = useState<readonly NotificationKind[]>(NOTIFICATION_KINDS)
  const save = useSaveRule()
  const isDirty = () => email !== '' || target !== '' || kinds.length < NOTIFICATION_KINDS.length
  const isReady = kinds.length > 0 && (by === 'email' ? email.includes('@') : target !== '')
  const submit = () =>
    save.mutate(
      { ...(by === 'email' ? { email: email.trim() } : { target_code: target }), kinds: [...kinds] },
      {
        onSuccess: () => {
          notifyDone(t.saved)
          setEmail('')
          setTarget('')
          setKinds(NOTIFICATION_KINDS)
        },
      },
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) submit()
      }}
    >
      <FormGuard isDirty={isDirty} />
      <Stack gap="sm" maw={640}>
        <Group align="flex-end">
          <SegmentedControl
            aria-label={t.by}
            value={by}
            data={[
              { value: 'email', label: t.channels.email },
              { value: 'webhook', label: t.channels.webhook },
            ]}
            onChange={(value) => setBy(value as typeof by)}
          />
          {by === 'email' ? (
            <TextInput
              type="email"
              label={t.email}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              flex={1}
            />
          ) : (
            <CodeSelect label={t.target} kind="targets" find={findTargets} value={target} onChange={setTarget} />
          )}
        </Group>
        <Checkbox.Group
          label={t.kindsLabel}
          value={[...kinds]}
          onChange={(value) => setKinds(value as NotificationKind[])}
        >
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mt="xs">
            {NOTIFICATION_KINDS.map((kind) => (
              <Checkbox key={kind} value={kind} label={t.kinds[kind]} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        {save.error !== null && <Problem title={t.saveFailed} error={save.error} />}
        <Group>
          <WriteButton needs="admin" type="submit" loading={save.isPending} disabled={!isReady}>
            {t.save}
          </WriteButton>
        </Group>
      </Stack>
    </form>
  )
}
