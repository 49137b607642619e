import type { Target } from '@gateway/contracts/target.js'
import IconPlugConnected from '~icons/plug-connected'
import { segment } from '../../api/client.js'
import { TARGETS } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, type Column, monoColumn, nameColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { type FiltersOf, ServerTable } from '../../ui/server-table.js'
import { yesOrNo } from '../../ui/use-catalog-filters.js'
import { TryButton } from './try-button.js'

export function TargetsTable() {
  const t = useTexts()
  const kinds = ['http', 'directory'] as const
  const modes = ['notify', 'upload'] as const
  const filters: FiltersOf<typeof TARGETS> = [
    { name: 'kind', label: t.common.kind, options: kinds.map((kind) => [kind, t.pushes.kinds[kind]]) },
    { name: 'mode', label: t.pushes.mode, options: modes.map((mode) => [mode, t.pushes.modes[mode]]) },
    { name: 'enabled', label: t.common.enabled, options: yesOrNo(t) },
  ]
  return (
    <ServerTable
      source={TARGETS}
      filters={filters}
      search={t.pushes.searchTargets}
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
      columns={useColumns()}
      rowKey={({ code }) => code}
    />
  )
}

function useColumns(): readonly Column<Target>[] {
  const t = useTexts()
  return [
    nameColumn(t, (code) => `/pushes/targets/${segment(code)}`),
    { id: 'kind', header: t.common.kind, sort: 'kind', value: ({ kind }) => t.pushes.kinds[kind] },
    monoColumn('where', t.pushes.url, ({ url, path }) => url ?? path ?? ''),
    { id: 'mode', header: t.pushes.mode, sort: 'mode', value: ({ mode }) => t.pushes.modes[mode] },
    {
      id: 'signed',
      header: t.pushes.signed,
      value: ({ has_secret: signed }) => (signed ? t.common.yes : t.common.no),
    },
    actionsColumn(t, ({ code }) => <TryButton code={code} />),
  ]
}
