import { wrongInCode } from '@gateway/contracts/codes.js'
import type { ScanSource, ScanSourceBody, SourceKind, TriedScan } from '@gateway/contracts/scan-source.js'
import { Alert, Fieldset, Group, List, Radio, Stack, Switch, Text, TextInput } from '@mantine/core'
import { isNotEmpty, matches, useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import type { Call } from '../../api/client.js'
import { useTryScan } from '../../api/scan-sources.js'
import { useAllowed } from '../../api/session.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { ChangedElsewhere } from '../../ui/changed-elsewhere.js'
import { CodeAndName, codeProblem } from '../../ui/code-and-name.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Problem } from '../../ui/problem.js'
import { ServerText } from '../../ui/server-text.js'
import { shownText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'
import { AutomationFields, type AutomationValues, automationBody, automationOf } from './automation-fields.js'
import {
  LayerChoice,
  ServiceFields,
  type ServiceValues,
  serviceBody,
  serviceOf,
  wrongHeader,
} from './service-fields.js'

interface SourceFormProps {
  /** undefined for a new source */
  readonly source?: ScanSource
  readonly kind?: SourceKind
  readonly pending: boolean
  readonly error: Error | null
  readonly commandOf: (body: ScanSourceBody) => Call
  readonly onSave: (body: ScanSourceBody, thenScan: boolean) => void
}

/** Allowed beginnings of a path; the service reports all other errors. */
const PLACE = /^(\/|s3:\/\/|https?:\/\/)/i
const DATABASE = /^postgres(ql)?:\/\//

export function SourceForm({ source, kind, pending, error, commandOf, onSave }: SourceFormProps) {
  const t = useTexts()
  const mayChange = useAllowed('admin')
  const stored = {
    code: source?.code ?? '',
    name: source?.name ?? '',
    kind: source?.kind ?? kind ?? 'basemap',
    path: source?.path ?? '',
    schemas: source?.schemas?.join(', ') ?? '',
    ...serviceOf(source),
    enabled: source?.enabled ?? true,
    ...automationOf(source),
  }
  const form = useForm({
    initialValues: stored,
    validate: {
      code: (code) => codeProblem(code, wrongInCode, t),
      path: (path, { kind }) =>
        kind === 'postgis'
          ? matches(DATABASE, t.sources.databaseWrong)(path)
          : matches(PLACE, t.sources.pathWrong)(path),
      kind: isNotEmpty(),
      headers: (headers, { kind }) =>
        kind === 'service' && wrongHeader(headers) !== null ? t.sources.headersWrong : null,
    },
  })
  const trial = useTryScan()
  const tryIt = () => {
    if (form.validateField('path').hasError) return
    const values = form.getValues()
    // The codes of basemaps begin with that of their source, if one was entered.
    const isCode = values.code !== '' && wrongInCode(values.code) === null
    trial.mutate({ ...placeOf(values, source), ...(isCode && { code: values.code }) })
  }
  // The result belongs to the tested path, not to one that was entered afterwards.
  const entered = form.values
  const tried = trial.variables
  const isTried = (tried?.path ?? tried?.url) === entered.path.trim() && tried?.kind === entered.kind
  const isDatabase = entered.kind === 'postgis'
  const save = (thenScan: boolean) => form.onSubmit((values) => onSave(bodyOf(values, source), thenScan))
  return (
    <form onSubmit={save(source === undefined)} noValidate>
      <FormGuard isDirty={() => form.isDirty()} />
      <Fieldset variant="unstyled" disabled={!mayChange}>
        <Stack maw={640}>
          <ChangedElsewhere form={form} stored={stored} saving={pending} />
          <CodeAndName form={form} codeHint={t.sources.codeHint} codeFixed={source !== undefined} />
          <Radio.Group
            label={t.common.kind}
            description={source === undefined ? undefined : t.sources.kindFixed}
            {...form.getInputProps('kind')}
          >
            <Stack gap="xs" mt="xs">
              {(['basemap', 'vector', 'style', 'postgis', 'service'] as const).map((one) => (
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
            label={isDatabase ? t.sources.database : t.common.path}
            description={isDatabase ? t.sources.databaseHint : t.sources.pathHint}
            required
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('path')}
          />
          {isDatabase && (
            <TextInput
              label={t.sources.schemas}
              description={t.sources.schemasHint}
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps('schemas')}
            />
          )}
          {entered.kind === 'service' && <ServiceFields form={form} hasHeaders={source?.has_headers === true} />}
          <Switch
            label={t.common.enabled}
            description={t.sources.enabledHint}
            {...form.getInputProps('enabled', { type: 'checkbox' })}
          />
          <AutomationFields form={form} />
          {isTried && trial.error !== null && <Problem title={t.sources.tryFailed} error={trial.error} />}
          {isTried && trial.data !== undefined && (
            <Tried tried={trial.data}>
              {trial.data.layers !== undefined && trial.data.layers.length > 0 && (
                <LayerChoice
                  layers={trial.data.layers}
                  taken={entered.layers}
                  onTake={(layers) => form.setFieldValue('layers', layers)}
                />
              )}
            </Tried>
          )}
          {error !== null && <Problem title={t.sources.saveFailed} error={error} />}
          <Group>
            <WriteButton needs="admin" type="submit" loading={pending}>
              {source === undefined ? t.sources.saveAndScan : t.common.save}
            </WriteButton>
            {source === undefined && (
              <WriteButton needs="admin" variant="default" disabled={pending} onClick={() => save(false)()}>
                {t.common.save}
              </WriteButton>
            )}
            <WriteButton needs="admin" variant="default" loading={trial.isPending} onClick={tryIt}>
              {t.sources.tryIt}
            </WriteButton>
          </Group>
          <AsCommand command={() => commandOf(bodyOf(form.values, source))} />
        </Stack>
      </Fieldset>
    </form>
  )
}

type SourceValues = Pick<ScanSource, 'code' | 'name' | 'kind' | 'path' | 'enabled'> &
  AutomationValues &
  ServiceValues & { readonly schemas: string }

type Place = ServiceValues & Pick<SourceValues, 'kind' | 'path' | 'schemas'>

function placeOf({ kind, path, schemas, ...service }: Place, source: ScanSource | undefined) {
  if (kind === 'service') return { kind, path: path.trim(), ...serviceBody(service, source) }
  if (kind !== 'postgis') return { kind, path: path.trim() }
  const names = schemas.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  return { kind, url: path.trim(), schemas: names.length === 0 ? ['public'] : names }
}

function bodyOf(values: SourceValues, source: ScanSource | undefined): ScanSourceBody {
  const { code, name, enabled } = values
  const named = name.trim() !== '' && { name: name.trim() }
  return { code, ...placeOf(values, source), enabled, ...named, ...automationBody(values) }
}

/** Number of rows: enough to see if the directory is the right one. */
const SHOWN = 10

/** The result of a trial scan. */
function Tried({ tried, children }: { readonly tried: TriedScan; readonly children?: ReactNode }) {
  const t = useTexts().sources
  const {
    problem,
    problem_code,
    problem_params,
    added,
    updated,
    missing,
    found,
    warnings,
    coded_messages: messages,
  } = tried
  const nothing = problem === null && added + updated + missing === 0
  return (
    <Alert
      role="status"
      color={problem !== null ? 'red' : nothing || warnings > 0 ? 'orange' : 'blue'}
      title={problem === null ? t.tried(t.outcome(added, updated, missing)) : t.cannotScan}
    >
      {problem !== null && (
        <Text size="sm">
          <ServerText text={shownText(problem)} code={problem_code} params={problem_params} />
        </Text>
      )}
      {children || <Few items={found.map((text) => ({ key: text, shown: shownText(text) }))} total={added + updated} />}
      {warnings > 0 && (
        <Text size="sm" mt="xs" fw={600}>
          {t.warnings(warnings)}
        </Text>
      )}
      <Few
        items={messages.map(({ message, message_code, message_params }) => ({
          key: message,
          shown: <ServerText text={shownText(message)} code={message_code} params={message_params} />,
        }))}
        total={warnings}
      />
    </Alert>
  )
}

interface FewProps {
  readonly items: readonly { readonly key: string; readonly shown: ReactNode }[]
  readonly total: number
}

function Few({ items, total }: FewProps) {
  const t = useTexts().sources
  if (items.length === 0) return null
  const few = items.slice(0, SHOWN)
  return (
    <List size="sm">
      {few.map(({ key, shown }) => (
        <List.Item key={key}>
          <bdi>{shown}</bdi>
        </List.Item>
      ))}
      {total > few.length && <List.Item>{t.andMore(total - few.length)}</List.Item>}
    </List>
  )
}
