import type { TokenBody } from '@gateway/contracts/token.js'
import { Checkbox, Group, Radio, Stack, TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { basemapsQuery, vectorsQuery } from '../../api/catalog.js'
import { settingsQuery } from '../../api/system.js'
import type { Texts } from '../../texts/en.js'
import { useTexts } from '../../texts/texts.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Problem } from '../../ui/problem.js'
import { shortText } from '../../ui/shown-text.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'
import { type Grant, GrantField, grantCodes, NO_GRANT } from './grant-field.js'

interface IssueFormProps {
  readonly pending: boolean
  readonly error: Error | null
  /** what was entered has led to a token */
  readonly issued: boolean
  readonly onIssue: (body: TokenBody) => void
}

type Expiry = 'default' | 'at' | 'never'

interface Values {
  name: string
  scopes: string[]
  basemaps: Grant
  vectors: Grant
  expiry: Expiry
  /** as the field has it: local time without a zone */
  moment: string
}

export function IssueForm({ pending, error, issued, onIssue }: IssueFormProps) {
  const t = useTexts()
  const formats = useFormats()
  const basemaps = useQuery(basemapsQuery)
  const vectors = useQuery(vectorsQuery)
  const ttl = useQuery(settingsQuery).data?.items.find(({ name }) => name === 'TOKEN_DEFAULT_TTL')?.value
  const form = useForm<Values>({
    initialValues: {
      name: '',
      scopes: ['read'],
      basemaps: { ...NO_GRANT, mode: 'chosen' },
      vectors: NO_GRANT,
      expiry: 'default',
      moment: '',
    },
    validate: {
      name: isNotEmpty(t.tokens.nameNeeded),
      scopes: isNotEmpty(t.tokens.scopeNeeded),
      basemaps: (grant, { scopes }) => problemOf(grant, scopes, t.tokens),
      vectors: (grant, { scopes }) => problemOf(grant, scopes, t.tokens),
      moment: (moment, { expiry }) =>
        expiry === 'at' && !(Date.parse(moment) > Date.now()) ? t.tokens.expiryNeeded : null,
    },
  })
  const reads = form.values.scopes.includes('read')
  const usual = typeof ttl === 'number' ? t.tokens.expiryDefault(formats.duration(ttl)) : t.tokens.expiryDefaultUnknown
  return (
    <form onSubmit={form.onSubmit((values) => onIssue(toBody(values)))} noValidate>
      {!issued && <FormGuard isDirty={() => form.isDirty()} />}
      <Stack maw={680} gap="lg">
        <TextInput
          label={t.tokens.name}
          description={t.tokens.nameHint}
          required
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <Checkbox.Group label={t.tokens.scopesTitle} {...form.getInputProps('scopes')}>
          <Stack gap="xs" mt="xs">
            <Checkbox value="read" label={t.tokens.scopeRead} description={t.tokens.scopeReadHint} />
            <Checkbox value="slice" label={t.tokens.scopeSlice} description={t.tokens.scopeSliceHint} />
          </Stack>
        </Checkbox.Group>
        {reads && (
          <>
            <GrantField
              label={t.tokens.basemaps}
              known={basemaps.data?.items ?? []}
              loading={basemaps.isPending}
              {...form.getInputProps('basemaps')}
            />
            <GrantField
              label={t.tokens.vectors}
              known={(vectors.data?.items ?? []).map(({ code, name, relative_path: path, file_name: file }) => ({
                code,
                name,
                aliases: [path, file],
              }))}
              loading={vectors.isPending}
              {...form.getInputProps('vectors')}
            />
          </>
        )}
        <Radio.Group label={t.tokens.expiry} {...form.getInputProps('expiry')}>
          <Stack gap="xs" mt="xs">
            <Radio value="default" label={usual} />
            <Radio value="at" label={t.tokens.expiryAt} />
            <Radio value="never" label={t.tokens.expiryNever} />
          </Stack>
        </Radio.Group>
        {form.values.expiry === 'at' && (
          <TextInput
            type="datetime-local"
            label={t.tokens.expiryMoment}
            required
            maw={280}
            {...form.getInputProps('moment')}
          />
        )}
        {error !== null && <Problem title={t.tokens.issueFailed} error={error} />}
        <Group>
          <WriteButton needs="admin" type="submit" loading={pending}>
            {t.tokens.issue}
          </WriteButton>
        </Group>
      </Stack>
    </form>
  )
}

function problemOf({ mode, codes, unknown }: Grant, scopes: readonly string[], t: Texts['tokens']): string | null {
  if (!scopes.includes('read') || mode !== 'chosen') return null
  if (unknown !== '') return t.undecided(shortText(unknown))
  return codes.length === 0 ? t.chooseNeeded : null
}

function toBody({ name, scopes, basemaps, vectors, expiry, moment }: Values): TokenBody {
  const reads = scopes.includes('read')
  return {
    name: name.trim(),
    scopes: scopes as NonNullable<TokenBody['scopes']>,
    basemap_codes: reads ? grantCodes(basemaps) : [],
    vector_codes: reads ? grantCodes(vectors) : [],
    ...(expiry === 'never' && { expires_at: 0 as const }),
    ...(expiry === 'at' && { expires_at: new Date(moment).toISOString() }),
  }
}
