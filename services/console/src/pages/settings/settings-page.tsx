import type { SettingView } from '@gateway/contracts/console.js'
import { Button, Text } from '@mantine/core'
import { IconBook2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { settingsQuery, systemQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { Copy } from '../../ui/copy.js'
import { DataTable } from '../../ui/data-table.js'
import { Facts } from '../../ui/facts.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'

export function Page() {
  const t = useTexts()
  const settings = useQuery(settingsQuery)
  const system = useQuery(systemQuery)
  const columns = useColumns()
  return (
    <Frame
      title={t.settings.title}
      lead={t.settings.lead(settings.data?.config_file ?? 'config/service.env')}
      actions={
        <Button component="a" href="/admin/docs/" variant="default" leftSection={<IconBook2 size={17} aria-hidden />}>
          {t.settings.reference}
        </Button>
      }
    >
      <Section title={t.settings.system}>
        <Loaded query={system} what={t.settings.system}>
          {(info) => (
            <Facts
              facts={[
                [t.common.version, info.version],
                [t.settings.apiBase, <Address key="api" url={info.api_base_url} what={t.settings.apiBase} />],
                [t.settings.tileBase, <Address key="tile" url={info.tile_base_url} what={t.settings.tileBase} />],
                [
                  t.settings.vectorBase,
                  <Address key="vector" url={info.vector_base_url} what={t.settings.vectorBase} />,
                ],
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section title={t.settings.title}>
        <Loaded query={settings} what={t.settings.what}>
          {({ items }) => (
            <DataTable
              label={t.settings.title}
              rows={items}
              columns={columns}
              rowKey={({ name }) => name}
              search={t.settings.search}
              pageSize={items.length}
            />
          )}
        </Loaded>
      </Section>
    </Frame>
  )
}

function Address({ url, what }: { url: string; what: string }) {
  return (
    <span className="with-copy">
      <span className="mono">{url}</span>
      <Copy text={url} what={what} />
    </span>
  )
}

/** Settings that are seconds, whatever form they were written in. */
const SECONDS = /(_SECONDS|_TTL|_WAITS)$/

function useColumns(): readonly Column<SettingView>[] {
  const t = useTexts().settings
  return useMemo(() => {
    const text = ({ name, value, secret, is_set }: SettingView): string => {
      if (secret && is_set) return t.secret
      if (value === null) return t.unset
      const parts = Array.isArray(value) ? value : [value]
      if (parts.length === 0) return t.emptyList
      return parts
        .map((part) => (SECONDS.test(name) && typeof part === 'number' ? t.seconds(part) : String(part)))
        .join(', ')
    }
    const quiet = ({ value, secret }: SettingView) =>
      secret || value === null || (Array.isArray(value) && value.length === 0)
    return [
      {
        id: 'name',
        header: t.setting,
        value: ({ name }) => `${name} ${t.docs[name] ?? ''}`,
        cell: ({ name }) => (
          <>
            <span className="mono">{name}</span>
            <Text size="sm" c="dimmed">
              {t.docs[name]}
            </Text>
          </>
        ),
      },
      {
        id: 'value',
        header: t.value,
        value: text,
        cell: (setting) =>
          quiet(setting) ? (
            <Text c="dimmed" inherit>
              {text(setting)}
            </Text>
          ) : (
            <span className="mono">{text(setting)}</span>
          ),
      },
    ]
  }, [t])
}
