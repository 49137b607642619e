import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { segment } from '../../api/client.js'
import { listQuery } from '../../api/list.js'
import { TOKENS } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { NameLink } from '../../ui/name.js'
import { Section } from '../../ui/section.js'
import { Ago } from '../../ui/time.js'
import { TokenStatus } from '../tokens/token-state.js'
import { CachePolicyField } from './cache-policy-field.js'
import { ShareButton } from './share-button.js'
import { SignButton } from './sign-button.js'

/** Maximum number of rows; the list of tokens shows all. */
const SHOWN = 10

/** The tokens that can read a basemap, and the cache policy of its tiles. */
export function Access({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const { code, name, versions } = basemap
  const asked = { basemap_code: code, status: 'active', limit: SHOWN, sort: '-last_used_at' } as const
  const query = useQuery(listQuery(TOKENS, asked))
  const all = `/tokens?${new URLSearchParams({ basemap_code: code, status: 'active' })}`
  return (
    <>
      <Section
        title={t.maps.tokens}
        note={t.maps.tokensLead}
        actions={
          <Group gap="xs">
            <ShareButton code={code} name={name} />
            <SignButton code={code} name={name} versions={versions} />
            <ButtonLink to={`/tokens/partner?basemap=${segment(code)}`} needs="admin" size="sm">
              {t.maps.issueFor}
            </ButtonLink>
          </Group>
        }
      >
        <Loaded query={query} what={t.tokens.what}>
          {({ items, total }) =>
            total === 0 ? (
              <Text c="dimmed">{t.maps.noTokens}</Text>
            ) : (
              <Stack gap="xs">
                <div className="table-scroll">
                  <Table fz="sm">
                    <Table.Thead>
                      <Table.Tr>
                        <Table.Th>{t.common.name}</Table.Th>
                        <Table.Th>{t.common.status}</Table.Th>
                        <Table.Th>{t.tokens.expires}</Table.Th>
                        <Table.Th>{t.tokens.lastUsed}</Table.Th>
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {items.map((token) => (
                        <Table.Tr key={token.id}>
                          <Table.Td>
                            <NameLink to={`/tokens/${segment(token.id)}`} name={token.name} />
                          </Table.Td>
                          <Table.Td>
                            <TokenStatus token={token} />
                          </Table.Td>
                          <Table.Td>
                            <Ago at={token.expires_at} fallback={t.tokens.expiresNever} />
                          </Table.Td>
                          <Table.Td>
                            <Ago at={token.last_used_at} />
                          </Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                </div>
                {total > items.length && <TextLink to={all}>{t.maps.allTokens(total)}</TextLink>}
              </Stack>
            )
          }
        </Loaded>
      </Section>
      <Section title={t.caching.policy}>
        <Facts>
          <Fact name={t.caching.policy}>
            <CachePolicyField basemap={basemap} />
          </Fact>
        </Facts>
      </Section>
    </>
  )
}
