import type { Token, TokenBody } from '@gateway/contracts/token.js'
import { Checkbox, Group, NumberInput, Radio, Stack, TagsInput, TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { findBasemaps, findVectors } from '../../api/catalog.js'
import type { Call } from '../../api/client.js'
import { settingsQuery } from '../../api/system.js'
import type { Texts } from '../../texts/en.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { ChangedElsewhere } from '../../ui/changed-elsewhere.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Problem } from '../../ui/problem.js'
import { shortText } from '../../ui/shown-text.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'
import { boundsOf } from '../basemaps/override-values.js'
import { GrantField } from './grant-field.js'
import { bodyOf, type Grant, NEW_TOKEN, type TokenValues, valuesOf } from './token-values.js'

interface TokenFormProps {
  /** undefined for a new token */
  readonly token?: Token
  readonly pending: boolean
  readonly error: Error | null
  /** true if the entered values were saved */
  readonly saved: boolean
  /** for an existing token, `body` holds only the fields that differ */
  readonly commandOf: (body: Partial<TokenBody>) => Call
  readonly onSave: (body: Partial<TokenBody>) => void
}

/** The form for the rights of a new or an existing token. */
export function TokenForm({ token, pending, error, saved, commandOf, onSave }: TokenFormProps) {
  const t = useTexts()
  const stored = token === undefined ? NEW_TOKEN : valuesOf(token)
  const form = useForm<TokenValues>({
    initialValues: stored,
    validate: {
      name: isNotEmpty(t.tokens.nameNeeded),
      scopes: isNotEmpty(t.tokens.scopeNeeded),
      basemaps: (grant, { scopes }) => (namesBasemaps(scopes) ? problemOf(grant, t.tokens) : null),
      vectors: (grant, { scopes }) => (scopes.includes('read') ? problemOf(grant, t.tokens) : null),
      layers: (grant, { scopes }) => (scopes.includes('slice') ? problemOf(grant, t.tokens) : null),
      origins: (origins) => wrongOne(origins, isOrigin, t.tokens.originWrong),
      networks: (networks) => wrongOne(networks, isNetwork, t.tokens.networkWrong),
      area: (text) => (text.trim() === '' || boundsOf(text) !== null ? null : t.overrides.boundsWrong),
      moment: (moment, { expiry }) =>
        expiry === 'at' && moment !== stored.moment && !(Date.parse(moment) > Date.now())
          ? t.tokens.expiryNeeded
          : null,
    },
  })
  const { basemaps, vectors, layers } = form.values
  const isSearching = [basemaps, vectors, layers].some(({ searching }) => searching)
  const bodyNow = (values: TokenValues) => bodyOf(values, token === undefined ? null : stored)
  const save = (values: TokenValues) => onSave(bodyNow(values))
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      {!saved && <FormGuard isDirty={() => form.isDirty()} />}
      <Stack maw={680} gap="lg">
        {token !== undefined && <ChangedElsewhere form={form} stored={stored} saving={pending} />}
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
            <Checkbox value="sign" label={t.tokens.scopeSign} description={t.tokens.scopeSignHint} />
          </Stack>
        </Checkbox.Group>
        {namesBasemaps(form.values.scopes) && (
          <GrantField
            label={t.tokens.basemaps}
            kind="basemaps"
            find={findBasemaps}
            {...form.getInputProps('basemaps')}
          />
        )}
        {form.values.scopes.includes('read') && (
          <GrantField label={t.tokens.vectors} kind="vectors" find={findVectors} {...form.getInputProps('vectors')} />
        )}
        {form.values.scopes.includes('slice') && (
          <GrantField label={t.tokens.layers} kind="basemaps" find={findBasemaps} {...form.getInputProps('layers')} />
        )}
        <TagsInput
          label={t.tokens.origins}
          description={t.tokens.originsHint}
          placeholder="https://maps.example.com"
          {...form.getInputProps('origins')}
        />
        <TagsInput
          label={t.tokens.networks}
          description={t.tokens.networksHint}
          placeholder="10.0.0.0/8"
          {...form.getInputProps('networks')}
        />
        <TextInput
          label={t.tokens.area}
          description={t.tokens.areaHint}
          placeholder="5.9, 45.8, 10.5, 47.8"
          autoComplete="off"
          {...form.getInputProps('area')}
        />
        <Group align="flex-start" grow>
          <NumberInput
            label={t.tokens.perSecond}
            description={t.tokens.perSecondHint}
            min={0.001}
            max={1_000_000}
            {...form.getInputProps('perSecond')}
          />
          <NumberInput
            label={t.tokens.burst}
            description={t.tokens.burstHint}
            min={1}
            max={1_000_000}
            allowDecimal={false}
            disabled={form.values.perSecond === ''}
            {...form.getInputProps('burst')}
          />
        </Group>
        <Radio.Group label={t.tokens.expiry} {...form.getInputProps('expiry')}>
          <Stack gap="xs" mt="xs">
            {token === undefined && <UsualExpiry />}
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
        {error !== null && (
          <Problem title={token === undefined ? t.tokens.issueFailed : t.tokens.saveFailed} error={error} />
        )}
        <Group>
          <WriteButton
            needs="admin"
            type="submit"
            loading={pending}
            disabled={isSearching || (token !== undefined && !form.isDirty())}
          >
            {token === undefined ? t.tokens.issue : t.common.save}
          </WriteButton>
        </Group>
        <AsCommand command={() => commandOf(bodyNow(form.values))} />
      </Stack>
    </form>
  )
}

function UsualExpiry() {
  const t = useTexts().tokens
  const formats = useFormats()
  const ttl = useQuery(settingsQuery).data?.items.find(({ name }) => name === 'TOKEN_DEFAULT_TTL')?.value
  const usual = typeof ttl === 'number' ? t.expiryDefault(formats.duration(ttl)) : t.expiryDefaultUnknown
  return <Radio value="default" label={usual} />
}

/** True if grants of basemaps have an effect: for reading, or for signing URLs. */
const namesBasemaps = (scopes: readonly string[]) => scopes.includes('read') || scopes.includes('sign')

function problemOf({ mode, codes, unknown }: Grant, t: Texts['tokens']): string | null {
  if (mode !== 'chosen') return null
  if (unknown !== '') return t.undecided(shortText(unknown))
  return codes.length === 0 ? t.chooseNeeded : null
}

function wrongOne(entries: readonly string[], isRight: (entry: string) => boolean, words: (entry: string) => string) {
  const wrong = entries.find((entry) => !isRight(entry))
  return wrong === undefined ? null : words(shortText(wrong))
}

/** Finds typing errors only; the server validates in detail. */
const isOrigin = (text: string) => /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/i.test(text)
const isNetwork = (text: string) => /^[0-9a-f.:]+(\/\d{1,3})?$/i.test(text)
