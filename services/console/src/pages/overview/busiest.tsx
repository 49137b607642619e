import type { UsageItem } from '@gateway/contracts/usage.js'
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { segment } from '../../api/client.js'
import { busiestQuery } from '../../api/usage.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Name, NameLink } from '../../ui/name.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'

const SHOWN = 5
/** Number of characters of a deleted token's id that are shown: enough to find the token in the audit. */
const ID_LENGTH = 8

export function BusiestTokens() {
  const t = useTexts().usage
  return (
    <Busiest title={t.busiestTokens} query={useQuery(busiestQuery('token', SHOWN))}>
      {({ id, name }) =>
        name === null ? (
          <Text c="dimmed">{t.deletedToken(id.slice(0, ID_LENGTH))}</Text>
        ) : (
          <NameLink to={`/tokens/${segment(id)}?usage=day`} name={name} />
        )
      }
    </Busiest>
  )
}

export function BusiestBasemaps() {
  return (
    <Busiest title={useTexts().usage.busiestBasemaps} query={useQuery(busiestQuery('basemap', SHOWN))}>
      {({ id, name }) =>
        name === null ? <Name>{id}</Name> : <NameLink to={`/basemaps/${segment(id)}?usage=day`} name={name} />
      }
    </Busiest>
  )
}

interface BusiestProps {
  readonly title: string
  readonly query: ReturnType<typeof useQuery<readonly UsageItem[]>>
  readonly children: (item: UsageItem) => ReactNode
}

function Busiest({ title, query, children }: BusiestProps) {
  const t = useTexts().usage
  const formats = useFormats()
  return (
    <Section title={title} note={t.busiestLead}>
      <Loaded query={query} what={t.what}>
        {(items) => (
          <Stack gap="sm">
            {items.length === 0 && <Text c="dimmed">{t.none}</Text>}
            {items.map((item) => (
              <Group key={item.id} justify="space-between" gap="xs">
                {children(item)}
                <Text size="sm" c="dimmed" ta="end" className="nowrap">
                  {t.requestsSent(item.requests, formats.bytes(item.bytes))}
                </Text>
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}
