import type { RefusalReason, UsageItem } from '@gateway/contracts/usage.js'
import { Button, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconDownload from '~icons/download'
import { segment } from '../../api/client.js'
import { togetherFile, togetherQuery } from '../../api/usage.js'
import type { Texts } from '../../texts/en.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Name, NameLink } from '../../ui/name.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { SpanField, useSpan } from './span-field.js'

/** For a token the maps that it used; for a basemap the tokens that used it. */
export function TogetherSection({ by, id }: { by: 'token' | 'basemap'; id: string }) {
  const t = useTexts().usage
  const chosen = useSpan()
  const query = useQuery(togetherQuery(by, id, chosen.span))
  const title = by === 'token' ? t.mapsUsed : t.usedBy
  return (
    <Section
      title={title}
      actions={
        <>
          <SpanField {...chosen} of={title} />
          <Button
            component="a"
            href={togetherFile(by, id, chosen.span)}
            download
            variant="default"
            size="compact-sm"
            leftSection={<IconDownload size={16} />}
            aria-label={`${title}: ${t.file}`}
          >
            {t.file}
          </Button>
        </>
      }
    >
      <Loaded query={query} what={t.what}>
        {({ items, total }) =>
          items.length === 0 ? <Text c="dimmed">{t.none}</Text> : <Rows by={by} items={items} total={total} />
        }
      </Loaded>
    </Section>
  )
}

function Rows({ by, items, total }: { by: 'token' | 'basemap'; items: readonly UsageItem[]; total: number }) {
  const texts = useTexts()
  const t = texts.usage
  const formats = useFormats()
  return (
    <Stack gap="xs">
      <div className="table-scroll">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{by === 'token' ? t.basemap : t.token}</Table.Th>
              <Table.Th ta="end">{t.requests}</Table.Th>
              <Table.Th ta="end">{t.bytes}</Table.Th>
              <Table.Th>{t.refused}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((item) => (
              <Table.Tr key={item.id}>
                <Table.Td>{by === 'token' ? <Basemap item={item} /> : <Token item={item} />}</Table.Td>
                <Table.Td ta="end">{formats.number(item.requests)}</Table.Td>
                <Table.Td ta="end">{formats.bytes(item.bytes)}</Table.Td>
                <Table.Td>{reasonsText(item, t, formats.number)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {total > items.length && <Text c="dimmed">{t.moreInFile(total - items.length)}</Text>}
    </Stack>
  )
}

function Basemap({ item }: { item: UsageItem }) {
  const code = item.basemap_code ?? ''
  if (item.name === null) return <Name>{code}</Name>
  return <NameLink to={`/basemaps/${segment(code)}`} name={item.name} />
}

/** Number of characters of a deleted token's id that are shown: enough to find the token in the audit. */
const ID_LENGTH = 8

function Token({ item }: { item: UsageItem }) {
  const t = useTexts().usage
  const id = item.token_id ?? ''
  if (id === 'signed') return t.signed
  if (id === 'other') return t.otherTokens
  if (item.token_name == null) return <Text c="dimmed">{t.deletedToken(id.slice(0, ID_LENGTH))}</Text>
  return <NameLink to={`/tokens/${segment(id)}`} name={item.token_name} />
}

/** Lists refused requests by reason. Refusals from before reasons were recorded come last. */
function reasonsText(
  { refused, refused_by: by }: Pick<UsageItem, 'refused' | 'refused_by'>,
  t: Texts['usage'],
  number: (value: number) => string,
): string {
  const reasons = (Object.entries(by) as [RefusalReason, number][]).sort(([, a], [, b]) => b - a)
  const told = reasons.map(([reason, n]) => `${t.reasons[reason]}: ${number(n)}`)
  const rest = reasons.reduce((left, [, n]) => left - n, refused)
  return [...told, ...(rest > 0 ? [`${t.noReason}: ${number(rest)}`] : [])].join(', ')
}
