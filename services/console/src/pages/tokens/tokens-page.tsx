import type { Token } from '@gateway/contracts/token.js'
import { Code, Text } from '@mantine/core'
import { useState } from 'react'
import IconKey from '~icons/key'
import { segment } from '../../api/client.js'
import { useAllowed } from '../../api/session.js'
import { EXPIRES_WITHIN_DAYS, TOKENS } from '../../api/tokens.js'
import type { Texts } from '../../texts/en.js'
import { useTexts } from '../../texts/texts.js'
import type { BulkAction } from '../../ui/bulk.js'
import { actionsColumn, agoColumn, type Column } from '../../ui/columns.js'
import { Hint } from '../../ui/hint.js'
import { ButtonLink } from '../../ui/links.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { NameLink } from '../../ui/name.js'
import { part } from '../../ui/part.js'
import { type FiltersOf, ServerListPage } from '../../ui/server-table.js'
import { WriteButton } from '../../ui/write-button.js'
import { grantsText } from './grants-text.js'
import { TokenStatus } from './token-state.js'

/** Loaded on demand, because the dialog is rarely opened. */
const DisableDialog = part(async () => (await import('./disable-dialog.js')).DisableDialog)

export function Page() {
  const t = useTexts()
  const [chosen, setChosen] = useState<Token | null>(null)
  const columns = useColumns(setChosen)
  const states = ['active', 'expired', 'disabled'] as const
  const filters: FiltersOf<typeof TOKENS> = [
    { name: 'kind', label: t.common.kind, options: [['preview', t.share.tokens]], otherwise: t.tokens.title },
    { name: 'status', label: t.common.status, options: states.map((state) => [state, t.tokens.states[state]]) },
    { name: 'basemap_code', label: t.tokens.grantedBasemap },
    {
      name: 'expires_within',
      label: t.tokens.expiresWithin,
      options: [1, 7, EXPIRES_WITHIN_DAYS, 30, 90].map((days) => [`${days}d`, t.tokens.expiringWithin(days)]),
    },
  ]
  const issue = (
    <ButtonLink to="/tokens/new" needs="admin" icon={IconKey}>
      {t.tokens.issue}
    </ButtonLink>
  )
  return (
    <ServerListPage
      texts={t.tokens}
      icon={IconKey}
      actions={
        <>
          <ButtonLink to="/tokens/partner" needs="admin" variant="default">
            {t.partner.title}
          </ButtonLink>
          {issue}
        </>
      }
      first={issue}
      source={TOKENS}
      filters={filters}
      columns={columns}
      rowKey={({ id }) => id}
      bulk={{ list: 'tokens', changes: ['tokens'], actions: tokenActions(t), nameOf: ({ name }) => name }}
    >
      {chosen !== null && <DisableDialog token={chosen} onClose={() => setChosen(null)} />}
    </ServerListPage>
  )
}

/** Maps that the hint of a row names; the page of the token names all. */
const HINTED = 40

function useColumns(onDisable: (token: Token) => void): readonly Column<Token>[] {
  const t = useTexts()
  const isAdmin = useAllowed('admin')
  return [
    {
      id: 'name',
      header: t.common.name,
      sort: 'name',
      value: ({ name }) => name,
      cell: ({ id, name }) => <NameLink to={`/tokens/${segment(id)}`} fw={550} name={name} />,
    },
    {
      id: 'prefix',
      header: t.tokens.prefix,
      sort: 'prefix',
      value: ({ prefix }) => prefix,
      cell: ({ prefix }) => <Code>{prefix}…</Code>,
    },
    {
      id: 'state',
      header: t.common.status,
      value: (token) => `${token.disabled_at ?? ''} ${token.expires_at ?? ''}`,
      cell: (token) => <TokenStatus token={token} />,
    },
    {
      id: 'grants',
      header: t.tokens.grants,
      share: 22,
      value: (token) => grantsText(token, t.tokens),
      // A separate column for the scopes would push the last column below the button.
      cell: (token) => (
        <div className="in-row">
          <Hint label={grantsText(token, t.tokens, HINTED)} multiline maw="min(36rem, 90vw)">
            <bdi className="name">{grantsText(token, t.tokens)}</bdi>
          </Hint>
          <Text size="xs" c="dimmed" span>
            {token.scopes.join(', ')}
          </Text>
        </div>
      ),
    },
    agoColumn('expires', t.tokens.expires, ({ expires_at: at }) => at, {
      fallback: t.tokens.expiresNever,
      sort: 'expires_at',
    }),
    agoColumn('used', t.tokens.lastUsed, ({ last_used_at: at }) => at, { sort: 'last_used_at' }),
    agoColumn('created', t.common.created, ({ created_at: at }) => at, { sort: 'created_at' }),
    actionsColumn(
      t,
      (token) =>
        isAdmin &&
        token.disabled_at === null && (
          <MoreMenu needs="admin" of={token.name}>
            <WriteButton
              needs="admin"
              size="xs"
              variant="light"
              color="red"
              className="danger"
              onClick={() => onDisable(token)}
              aria-label={`${t.tokens.disable}: ${token.name}`}
            >
              {t.tokens.disable}
            </WriteButton>
          </MoreMenu>
        ),
    ),
  ]
}

// Loaded on demand, because the dialog that shows them is rarely opened.
const ExtendFields = part(async () => (await import('./bulk-fields.js')).ExtendFields)
const ExpireFields = part(async () => (await import('./bulk-fields.js')).ExpireFields)
const GrantFields = part(async () => (await import('./bulk-fields.js')).GrantFields)

/** Returns the actions on the selected tokens. */
function tokenActions({ work: { bulk }, tokens }: Texts): readonly BulkAction[] {
  const { actions, effects } = bulk
  const dated = { Fields: ExtendFields, needed: tokens.expiryNeeded }
  return [
    { action: 'extend', label: actions.extend, needs: 'admin', effects: effects.extend, ...dated },
    {
      action: 'expire',
      label: actions.expire,
      needs: 'admin',
      effects: effects.expire,
      Fields: ExpireFields,
      needed: tokens.expiryNeeded,
    },
    { action: 'grant', label: actions.grant, needs: 'admin', Fields: GrantFields },
    {
      action: 'withdraw',
      label: actions.withdrawGrant,
      needs: 'admin',
      effects: effects.withdrawGrant,
      Fields: GrantFields,
    },
    { action: 'disable', label: actions.disable, needs: 'admin', effects: effects.disable, danger: true },
  ]
}
