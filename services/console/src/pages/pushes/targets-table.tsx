import type { Target } from '@gateway/contracts/target.js'
import { IconPlugConnected } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { segment } from '../../api/client.js'
import { targetsQuery } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, type Column, monoColumn, nameColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { ListTable } from '../../ui/list-page.js'
import { TryButton } from './try-button.js'

export function TargetsTable() {
  const t = useTexts()
  const query = useQuery(targetsQuery)
  const columns = useColumns()
  return (
    <ListTable
      query={query}
      what={t.pushes.whatTargets}
      empty={{
        title: t.pushes.noTargets,
        icon: IconPlugConnected,
        action: (
          <ButtonLink to="/pushes/targets/new" needs="admin">
            {t.pushes.addTarget}
          </ButtonLink>
        ),
        advice: t.pushes.noTargetsAdvice,
      }}
      label={t.pushes.targets}
      columns={columns}
      rowKey={({ code }) => code}
    />
  )
}

function useColumns(): readonly Column<Target>[] {
  const t = useTexts()
  return [
    nameColumn(t, (code) => `/pushes/targets/${segment(code)}`),
    { id: 'kind', header: t.common.kind, value: ({ kind }) => t.pushes.kinds[kind] },
    monoColumn('where', t.pushes.url, ({ url, path }) => url ?? path ?? ''),
    { id: 'mode', header: t.pushes.mode, value: ({ mode }) => t.pushes.modes[mode] },
    {
      id: 'signed',
      header: t.pushes.signed,
      value: ({ has_secret: signed }) => (signed ? t.common.yes : t.common.no),
    },
    actionsColumn(t, ({ code }) => <TryButton code={code} />),
  ]
}
