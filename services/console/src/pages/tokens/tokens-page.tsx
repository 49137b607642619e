import type { Token } from '@gateway/contracts/token.js'
import { Button, Code, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { tokensQuery } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { actionsColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { ListPage } from '../../ui/list-page.js'
import { Ago } from '../../ui/time.js'
import { DisableDialog } from './disable-dialog.js'
import { grantsText } from './grants-text.js'
import { TokenStatus } from './token-state.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(tokensQuery)
  const [asked, setAsked] = useState<Token | null>(null)
  const columns = useColumns(setAsked)
  const issue = (
    <ButtonLink to="/tokens/new" leftSection={<IconKey size={17} aria-hidden />}>
      {t.tokens.issue}
    </ButtonLink>
  )
  return (
    <ListPage
      texts={t.tokens}
      icon={<IconKey size={30} aria-hidden />}
      actions={issue}
      first={issue}
      query={query}
      columns={columns}
      rowKey={({ id }) => id}
      cut={t.tokens.listed}
    >
      <DisableDialog token={asked} onClose={() => setAsked(null)} />
    </ListPage>
  )
}

function useColumns(ask: (token: Token) => void): readonly Column<Token>[] {
  const t = useTexts()
  return useMemo(
    () => [
      {
        id: 'name',
        header: t.common.name,
        value: ({ name }) => name,
        cell: ({ name }) => (
          <Text fw={550} inherit>
            {name}
          </Text>
        ),
      },
      {
        id: 'prefix',
        header: t.tokens.prefix,
        value: ({ prefix }) => prefix,
        cell: ({ prefix }) => <Code>{prefix}…</Code>,
      },
      {
        id: 'state',
        header: t.common.status,
        value: (token) => `${token.disabled_at ?? ''} ${token.expires_at ?? ''}`,
        cell: (token) => <TokenStatus token={token} />,
      },
      { id: 'scopes', header: t.tokens.scopes, value: ({ scopes }) => scopes.join(', ') },
      { id: 'grants', header: t.tokens.grants, value: (token) => grantsText(token, t.tokens) },
      {
        id: 'expires',
        header: t.tokens.expires,
        value: (token) => token.expires_at ?? '9999',
        cell: (token) => <Ago at={token.expires_at} fallback={t.tokens.expiresNever} />,
      },
      {
        id: 'used',
        header: t.tokens.lastUsed,
        value: (token) => token.last_used_at ?? '',
        cell: (token) => <Ago at={token.last_used_at} />,
      },
      {
        id: 'created',
        header: t.common.created,
        value: (token) => token.created_at,
        cell: (token) => <Ago at={token.created_at} />,
      },
      actionsColumn(
        t,
        (token) =>
          token.disabled_at === null && (
            <Button
              size="xs"
              variant="light"
              color="red"
              className="danger"
              onClick={() => ask(token)}
              aria-label={`${t.tokens.disable}: ${token.name}`}
            >
              {t.tokens.disable}
            </Button>
          ),
      ),
    ],
    [t, ask],
  )
}
