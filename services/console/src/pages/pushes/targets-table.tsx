import type { Target } from '@gateway/contracts/target.js'
import { Text } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { segment } from '../../api/client.js'
import { targetsQuery } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Status } from '../../ui/status.js'
import { TryButton } from './try-button.js'

export function TargetsTable() {
  const t = useTexts()
  const query = useQuery(targetsQuery)
  const columns = useColumns()
  return (
    <Loaded query={query} what={t.pushes.whatTargets}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            title={t.pushes.noTargets}
            icon={<IconPlugConnected size={30} aria-hidden />}
            action={<ButtonLink to="/pushes/targets/new">{t.pushes.addTarget}</ButtonLink>}
          >
            {t.pushes.noTargetsAdvice}
          </Empty>
        ) : (
          <DataTable label={t.pushes.targets} rows={items} columns={columns} rowKey={({ code }) => code} />
        )
      }
    </Loaded>
  )
}

function useColumns(): readonly Column<Target>[] {
  const t = useTexts()
  return useMemo(
    () => [
      {
        id: 'name',
        header: t.common.name,
        value: ({ name }) => name,
        cell: ({ name, code, enabled }) => (
          <>
            <TextLink to={`/pushes/targets/${segment(code)}`} fw={550}>
              {name}
            </TextLink>{' '}
            {!enabled && <Status tone="off">{t.common.disabled}</Status>}
            {name !== code && (
              <Text size="xs" c="dimmed">
                {code}
              </Text>
            )}
          </>
        ),
      },
      { id: 'kind', header: t.common.kind, value: ({ kind }) => t.pushes.kinds[kind] },
      {
        id: 'where',
        header: t.pushes.url,
        value: ({ url, path }) => url ?? path ?? '',
        cell: ({ url, path }) => <span className="mono">{url ?? path}</span>,
      },
      { id: 'mode', header: t.pushes.mode, value: ({ mode }) => t.pushes.modes[mode] },
      {
        id: 'signed',
        header: t.pushes.signed,
        value: ({ has_secret: signed }) => (signed ? t.common.yes : t.common.no),
      },
      {
        id: 'actions',
        header: t.common.actions,
        value: () => '',
        actions: true,
        cell: ({ code }) => <TryButton code={code} />,
      },
    ],
    [t],
  )
}
