import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { IssuedToken } from '@gateway/contracts/token.js'
import { Alert, Group, NativeSelect, SimpleGrid, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import IconAlertTriangle from '~icons/alert-triangle'
import { basemapQuery, findBasemaps } from '../../api/catalog.js'
import { useIssueToken } from '../../api/tokens.js'
import { useSearchParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { CopyBlock } from '../../ui/copy.js'
import { FormGuard, LeaveGuard } from '../../ui/leave-guard.js'
import { TextLink } from '../../ui/links.js'
import { Page as Frame } from '../../ui/page.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'
import { Snippets } from '../basemaps/addresses.js'
import { EarlierBase } from '../basemaps/earlier-base.js'
import { CLIENTS, snippet } from '../basemaps/snippets.js'
import { GrantField } from './grant-field.js'
import { GRANT_ALL } from './grants-text.js'
import { partnerText } from './partner-text.js'
import { bodyOf, localMoment, NEW_TOKEN, NO_GRANT, type TokenValues } from './token-values.js'

const USUAL_DAYS = 30
const DAY_MS = 86_400_000

/** Gives a partner access on one screen: the maps, expiry and networks; then shows the token and the text to send. */
export function Page() {
  const t = useTexts()
  const issue = useIssueToken()
  return (
    <Frame title={t.partner.title} lead={t.partner.lead} above={[{ label: t.tokens.title, to: '/tokens' }]}>
      <div className="partner">
        <Section title={t.partner.what}>
          <PartnerForm issue={issue} />
        </Section>
        {issue.data !== undefined && <Given issued={issue.data} />}
      </div>
    </Frame>
  )
}

function PartnerForm({ issue }: { issue: ReturnType<typeof useIssueToken> }) {
  const t = useTexts()
  const parameters = useSearchParams()
  const chosen = parameters.getAll('basemap')
  const form = useForm<TokenValues>({
    initialValues: {
      ...NEW_TOKEN,
      basemaps: { ...NO_GRANT, mode: 'chosen', codes: chosen },
      expiry: 'at',
      moment: localMoment(new Date(Date.now() + USUAL_DAYS * DAY_MS).toISOString()),
    },
    validate: {
      name: isNotEmpty(t.tokens.nameNeeded),
      basemaps: ({ mode, codes }) => (mode === 'chosen' && codes.length === 0 ? t.tokens.chooseNeeded : null),
      moment: (moment) => (Date.parse(moment) > Date.now() ? null : t.tokens.expiryNeeded),
    },
  })
  const isDone = issue.isSuccess
  const body = () => bodyOf(form.values, null) as Parameters<typeof issue.mutate>[0]
  return (
    <form onSubmit={form.onSubmit(() => issue.mutate(body()))} noValidate>
      {!isDone && <FormGuard isDirty={() => form.isDirty()} />}
      <fieldset disabled={isDone} className="plain">
        <Stack>
          <TextInput label={t.partner.name} required autoComplete="off" {...form.getInputProps('name')} />
          <GrantField
            label={t.tokens.basemaps}
            kind="basemaps"
            find={findBasemaps}
            {...form.getInputProps('basemaps')}
          />
          <TextInput
            type="datetime-local"
            label={t.partner.until}
            required
            maw={280}
            {...form.getInputProps('moment')}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TagsInput
              label={t.tokens.networks}
              placeholder="10.0.0.0/8"
              disabled={isDone}
              {...form.getInputProps('networks')}
            />
            <TagsInput
              label={t.tokens.origins}
              placeholder="https://maps.example.com"
              disabled={isDone}
              {...form.getInputProps('origins')}
            />
          </SimpleGrid>
          {issue.error !== null && <Problem title={t.tokens.issueFailed} error={issue.error} />}
          {!isDone && (
            <>
              <Group>
                <WriteButton
                  needs="admin"
                  type="submit"
                  loading={issue.isPending}
                  disabled={form.values.basemaps.searching}
                >
                  {t.partner.give}
                </WriteButton>
              </Group>
              <AsCommand command={() => issue.commandOf(body())} />
            </>
          )}
        </Stack>
      </fieldset>
    </form>
  )
}

/** Shows the token for the only time, with all the information for the partner. */
function Given({ issued }: { issued: IssuedToken }) {
  const t = useTexts()
  const formats = useFormats()
  const [withSecret, setWithSecret] = useState(false)
  const codes = issued.basemap_codes.filter((code) => code !== GRANT_ALL)
  const maps = useQueries({ queries: codes.map(basemapQuery) }).flatMap(({ data }) => data ?? [])
  const text = partnerText(
    {
      name: issued.name,
      maps,
      until: issued.expires_at === null ? null : formats.dateTimeZone(issued.expires_at),
      networks: issued.allowed_networks,
      origins: issued.allowed_origins,
      token: withSecret ? issued.token : null,
    },
    t.partner,
  )
  return (
    <Section title={t.partner.given}>
      <Alert color="orange" icon={<IconAlertTriangle />}>
        {t.tokens.issuedWarning}
      </Alert>
      <CopyBlock text={issued.token} what={t.tokens.theToken} />
      <EarlierBase basemaps={maps} />
      <Text fw={550}>{t.partner.text}</Text>
      <Switch
        label={t.partner.withSecret}
        description={t.partner.withSecretHint}
        checked={withSecret}
        onChange={(event) => setWithSecret(event.currentTarget.checked)}
      />
      <CopyBlock text={text} what={t.partner.text} />
      {maps.length > 0 && <MapSnippets maps={maps} issued={issued} />}
      <TextLink to={`/tokens/${issued.id}`}>{t.partner.open}</TextLink>
      <LeaveGuard when={() => true} title={t.leave.tokenTitle}>
        {t.leave.token}
      </LeaveGuard>
    </Section>
  )
}

function MapSnippets({ maps, issued }: { maps: readonly AdminBasemap[]; issued: IssuedToken }) {
  const t = useTexts()
  const [code, setCode] = useState(maps[0]?.code)
  const map = maps.find((one) => one.code === code) ?? maps[0]
  const version = map?.versions.find((v) => v.version === map.default_version)
  if (map === undefined || version === undefined) return null
  const { name, url_template: template } = map
  const { token, allowed_origins: origins } = issued
  const described = { code: map.code, name, template, version, pinned: false, token, origins }
  return (
    <>
      <NativeSelect
        label={t.partner.snippetsOf}
        maw={320}
        value={map.code}
        data={maps.map((one) => ({ value: one.code, label: one.name }))}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <Snippets texts={CLIENTS.map((client) => [client, snippet(client, described)])} />
    </>
  )
}
