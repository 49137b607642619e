import type { ScanSource, ScanSourceBody, SourceKind } from '@gateway/contracts/scan-source.js'
import { Button, Group, Radio, Stack, Switch, TextInput } from '@mantine/core'
import { isNotEmpty, matches, useForm } from '@mantine/form'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'

interface SourceFormProps {
  /** undefined: a new one */
  readonly source?: ScanSource
  readonly kind?: SourceKind
  readonly pending: boolean
  readonly error: Error | null
  readonly onSave: (body: ScanSourceBody, thenScan: boolean) => void
}

/** As the server checks it; see codeSchema of the contracts. */
const CODE = /^(?![.*])[^/\\\s]+$/
const ABSOLUTE = /^\//

export function SourceForm({ source, kind, pending, error, onSave }: SourceFormProps) {
  const t = useTexts()
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: {
      code: source?.code ?? '',
      name: source?.name ?? '',
      kind: source?.kind ?? kind ?? 'basemap',
      path: source?.path ?? '',
      enabled: source?.enabled ?? true,
    },
    validate: {
      code: matches(CODE, t.sources.codeWrong),
      path: matches(ABSOLUTE, t.sources.pathWrong),
      kind: isNotEmpty(),
    },
  })
  const save = (thenScan: boolean) =>
    form.onSubmit(({ code, name, kind, path, enabled }) =>
      onSave({ code, kind, path: path.trim(), enabled, ...(name.trim() !== '' && { name: name.trim() }) }, thenScan),
    )
  return (
    <form onSubmit={save(source === undefined)} noValidate>
      <Stack maw={640}>
        <TextInput
          label={t.common.code}
          description={t.sources.codeHint}
          required
          disabled={source !== undefined}
          autoComplete="off"
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <TextInput
          label={`${t.common.name} (${t.common.optional})`}
          autoComplete="off"
          key={form.key('name')}
          {...form.getInputProps('name')}
        />
        <Radio.Group
          label={t.common.kind}
          description={source === undefined ? undefined : t.sources.kindFixed}
          key={form.key('kind')}
          {...form.getInputProps('kind')}
        >
          <Stack gap="xs" mt="xs">
            {(['basemap', 'vector'] as const).map((one) => (
              <Radio
                key={one}
                value={one}
                label={t.sources.kinds[one]}
                description={t.sources.kindHint[one]}
                disabled={source !== undefined}
              />
            ))}
          </Stack>
        </Radio.Group>
        <TextInput
          label={t.common.path}
          description={t.sources.pathHint}
          required
          autoComplete="off"
          spellCheck={false}
          key={form.key('path')}
          {...form.getInputProps('path')}
        />
        <Switch
          label={t.common.enabled}
          description={t.sources.enabledHint}
          key={form.key('enabled')}
          {...form.getInputProps('enabled', { type: 'checkbox' })}
        />
        {error !== null && <Problem title={t.sources.saveFailed} error={error} />}
        <Group>
          {source === undefined ? (
            <Button type="submit" loading={pending}>
              {t.sources.saveAndScan}
            </Button>
          ) : (
            <Button type="submit" loading={pending}>
              {t.common.save}
            </Button>
          )}
          {source === undefined && (
            <Button variant="default" disabled={pending} onClick={() => save(false)()}>
              {t.common.save}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}
