import { wrongInCode } from '@gateway/contracts/codes.js'
import type { Target, TargetBody } from '@gateway/contracts/target.js'
import { Checkbox, Fieldset, Group, PasswordInput, Radio, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Call } from '../../api/client.js'
import { useAllowed } from '../../api/session.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { ChangedElsewhere } from '../../ui/changed-elsewhere.js'
import { CodeAndName, codeProblem } from '../../ui/code-and-name.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Problem } from '../../ui/problem.js'
import { WriteButton } from '../../ui/write-button.js'

interface TargetFormProps {
  /** undefined for a new target */
  readonly target?: Target
  readonly pending: boolean
  readonly error: Error | null
  readonly commandOf: (body: TargetBody) => Call
  readonly onSave: (body: TargetBody) => void
}

export function TargetForm({ target, pending, error, commandOf, onSave }: TargetFormProps) {
  const t = useTexts()
  const mayChange = useAllowed('admin')
  const stored = {
    code: target?.code ?? '',
    name: target?.name ?? '',
    kind: target?.kind ?? ('http' as Target['kind']),
    url: target?.url ?? '',
    path: target?.path ?? '',
    mode: target?.mode ?? ('notify' as Target['mode']),
    enabled: target?.enabled ?? true,
    secret: '',
    removeSecret: false,
  }
  const form = useForm({
    initialValues: stored,
    validate: {
      code: (code) => codeProblem(code, wrongInCode, t),
      url: (url, { kind }) => {
        if (kind === 'bucket') return /^s3:\/\/./.test(url) ? null : t.pushes.bucketWrong
        return kind === 'directory' || /^https?:\/\/./.test(url) ? null : t.pushes.urlWrong
      },
      path: (path, { kind }) => (kind !== 'directory' || path.startsWith('/') ? null : t.pushes.pathWrong),
    },
  })
  const { kind, removeSecret } = form.values
  const save = form.onSubmit((values) => onSave(bodyOf(values)))
  const command = () => commandOf(bodyOf({ ...form.values, secret: form.values.secret && 'YOUR_SECRET' }))
  return (
    <form onSubmit={save} noValidate>
      <FormGuard isDirty={() => form.isDirty()} />
      <Fieldset variant="unstyled" disabled={!mayChange}>
        <Stack maw={640}>
          <ChangedElsewhere form={form} stored={stored} saving={pending} />
          <CodeAndName form={form} codeHint={t.pushes.codeHint} codeFixed={target !== undefined} />
          <Radio.Group label={t.common.kind} {...form.getInputProps('kind')}>
            <Group mt="xs">
              <Radio value="http" label={t.pushes.kinds.http} />
              <Radio value="directory" label={t.pushes.kinds.directory} />
              <Radio value="bucket" label={t.pushes.kinds.bucket} />
              <Radio value="purge" label={t.pushes.kinds.purge} />
            </Group>
          </Radio.Group>
          {kind === 'bucket' && (
            <TextInput
              label={t.pushes.bucket}
              description={t.pushes.bucketHint}
              required
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps('url')}
            />
          )}
          {(kind === 'http' || kind === 'purge') && (
            <>
              <TextInput
                label={t.pushes.url}
                description={kind === 'purge' ? t.pushes.purgeHint : undefined}
                type="url"
                required
                autoComplete="off"
                spellCheck={false}
                {...form.getInputProps('url')}
              />
              {kind === 'http' && (
                <Radio.Group label={t.pushes.mode} {...form.getInputProps('mode')}>
                  <Stack gap="xs" mt="xs">
                    {(['notify', 'upload'] as const).map((mode) => (
                      <Radio
                        key={mode}
                        value={mode}
                        label={t.pushes.modes[mode]}
                        description={t.pushes.modeHint[mode]}
                      />
                    ))}
                  </Stack>
                </Radio.Group>
              )}
              <PasswordInput
                label={`${t.pushes.secret} (${t.common.optional})`}
                description={target?.has_secret ? t.pushes.secretKept : t.pushes.secretHint}
                autoComplete="new-password"
                disabled={removeSecret}
                {...form.getInputProps('secret')}
              />
              {target?.has_secret && (
                <Checkbox label={t.pushes.secretRemove} {...form.getInputProps('removeSecret', { type: 'checkbox' })} />
              )}
            </>
          )}
          {kind === 'directory' && (
            <TextInput
              label={t.pushes.path}
              required
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps('path')}
            />
          )}
          <Switch
            label={t.common.enabled}
            description={t.pushes.enabledHint}
            {...form.getInputProps('enabled', { type: 'checkbox' })}
          />
          {error !== null && <Problem title={t.pushes.saveFailed} error={error} />}
          <Group>
            <WriteButton needs="admin" type="submit" loading={pending}>
              {t.common.save}
            </WriteButton>
          </Group>
          <AsCommand command={command} />
        </Stack>
      </Fieldset>
    </form>
  )
}

type TargetValues = Readonly<Record<'code' | 'name' | 'url' | 'path' | 'secret', string>> &
  Pick<Target, 'kind' | 'mode' | 'enabled'> & { readonly removeSecret: boolean }

function bodyOf({ code, name, kind, url, path, mode, enabled, secret, removeSecret }: TargetValues): TargetBody {
  return {
    code,
    kind,
    enabled,
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(kind === 'directory' ? { path: path.trim() } : { url: url.trim() }),
    ...(kind === 'http' && { mode }),
    ...(removeSecret ? { secret: '' } : secret !== '' && { secret }),
  }
}
