import type { Token } from '@gateway/contracts/token.js'
import type { RefusalReason } from '@gateway/contracts/usage.js'
import { Code, Fieldset, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAllowed } from '../../api/session.js'
import { deleteToken, tokenQuery, useUpdateToken } from '../../api/tokens.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { DeleteButton } from '../../ui/delete.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Loaded } from '../../ui/loaded.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { Name } from '../../ui/name.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { Ago, Moment, useNow } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'
import { BoundsText } from '../basemaps/bounds-text.js'
import { TogetherSection } from '../usage/together-section.js'
import { UsageSection } from '../usage/usage-section.js'
import { DisableDialog } from './disable-dialog.js'
import { grantsText } from './grants-text.js'
import { RotateButton } from './rotate-button.js'
import { TokenForm } from './token-form.js'
import { stateOf, TokenStatus } from './token-state.js'

export function Page() {
  const t = useTexts().tokens
  const { id = '' } = useParams()
  const missing = { title: t.noSuch, back: { label: t.title, to: '/tokens' } }
  return (
    <Loaded query={useQuery(tokenQuery(id))} what={t.what} missing={missing}>
      {(token) => <Shown key={id} token={token} />}
    </Loaded>
  )
}

function Shown({ token }: { token: Token }) {
  const t = useTexts()
  return (
    <Frame
      title={token.name}
      lead={<Code>{token.prefix}…</Code>}
      above={[{ label: t.tokens.title, to: '/tokens' }]}
      actions={<Actions token={token} />}
    >
      <Section title={t.basemaps.details}>
        <TokenFacts token={token} />
      </Section>
      <UsageSection by="token" id={token.id} />
      <TogetherSection by="token" id={token.id} />
      <Edit token={token} />
    </Frame>
  )
}

function Actions({ token }: { token: Token }) {
  const t = useTexts()
  const [asked, setAsked] = useState(false)
  const hasEnded = stateOf(token, useNow()) !== 'active'
  return (
    <>
      <TokenStatus token={token} />
      {!hasEnded && <RotateButton token={token} />}
      {token.disabled_at === null && (
        <WriteButton needs="admin" variant="light" color="red" className="danger" onClick={() => setAsked(true)}>
          {t.tokens.disable}
        </WriteButton>
      )}
      {hasEnded && (
        <MoreMenu needs="admin">
          <DeleteButton
            deletion={() => deleteToken(token.id)}
            name={token.name}
            words={t.tokens.deleteWords}
            to="/tokens"
          />
        </MoreMenu>
      )}
      <DisableDialog token={asked ? token : null} onClose={() => setAsked(false)} />
    </>
  )
}

function TokenFacts({ token }: { token: Token }) {
  const t = useTexts()
  const { previous_prefix: previous, previous_expires_at: until } = token
  const never = token.last_refused_at === null ? t.common.never : t.tokens.onlyRefused
  const now = useNow()
  const overlaps = previous !== null && until !== null && Date.parse(until) > now
  return (
    <Facts>
      <Fact name={t.tokens.grants}>
        <Name>{grantsText(token, t.tokens, Number.POSITIVE_INFINITY)}</Name>
      </Fact>
      {token.bounds !== null && (
        <Fact name={t.tokens.area}>
          <BoundsText bounds={token.bounds} />
        </Fact>
      )}
      <Fact name={t.tokens.expires}>
        <Ago at={token.expires_at} fallback={t.tokens.expiresNever} />
      </Fact>
      <Fact name={t.common.created}>
        <Moment at={token.created_at} />
      </Fact>
      <Fact name={t.tokens.firstUsed}>
        <Ago at={token.first_used_at} fallback={token.last_used_at === null ? never : t.tokens.notRecorded} />{' '}
        {token.first_used_from !== null && <Name>{t.tokens.usedFrom(token.first_used_from)}</Name>}
      </Fact>
      <Fact name={t.tokens.lastUsed}>
        <Ago at={token.last_used_at} fallback={never} />{' '}
        {token.last_used_from !== null && <Name>{t.tokens.usedFrom(token.last_used_from)}</Name>}
      </Fact>
      {token.last_refused_at !== null && (
        <Fact name={t.tokens.refused} wide>
          <Refusals token={token} />
        </Fact>
      )}
      {token.disabled_at !== null && (
        <Fact name={t.tokens.disabledAt}>
          <Moment at={token.disabled_at} />
        </Fact>
      )}
      {overlaps && (
        <Fact name={t.tokens.previousSecret}>
          <Code>{previous}…</Code> {t.tokens.validUntil} <Moment at={until} />
        </Fact>
      )}
    </Facts>
  )
}

/** Reasons of refused requests, the latest first. */
function Refusals({ token }: { token: Token }) {
  const t = useTexts().usage
  const { number } = useFormats()
  const reasons = Object.entries(token.refused_by).sort(([, a], [, b]) => b.last_at.localeCompare(a.last_at))
  return reasons.map(([reason, { requests, last_at: at }]) => (
    <Text key={reason}>
      {t.reasons[reason as RefusalReason]}: {t.refusedTimes(requests, number(requests))} <Ago at={at} />
    </Text>
  ))
}

function Edit({ token }: { token: Token }) {
  const t = useTexts()
  const update = useUpdateToken(token.id)
  const mayChange = useAllowed('admin')
  return (
    <Section title={t.tokens.edit} note={t.tokens.editLead}>
      {token.disabled_at !== null && <Text size="sm">{t.tokens.editDisabled}</Text>}
      <Fieldset variant="unstyled" disabled={!mayChange}>
        <TokenForm
          token={token}
          pending={update.isPending}
          error={update.error}
          saved={false}
          commandOf={update.commandOf}
          onSave={(body) =>
            update.mutate(body, {
              onSuccess: ({ name, confirmed, pending }) =>
                notifyDone(
                  t.tokens.saved(shortText(name)),
                  t.withdraw.confirmedBy(confirmed.length, confirmed.length + pending.length),
                ),
            })
          }
        />
      </Fieldset>
    </Section>
  )
}
