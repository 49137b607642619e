import type { SettingView } from '@gateway/contracts/console.js'
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconBook2 from '~icons/book-2'
import { settingsQuery, systemQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/columns.js'
import { Copyable } from '../../ui/copy.js'
import { DataTable } from '../../ui/data-table.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { settingText } from './setting-text.js'

export function Page() {
  const t = useTexts()
  const settings = useQuery(settingsQuery)
  const system = useQuery(systemQuery)
  const columns = useColumns()
  const addresses = [
    [t.settings.apiBase, 'api_base_url'],
    [t.settings.tileBase, 'tile_base_url'],
    [t.settings.vectorBase, 'vector_base_url'],
  ] as const
  return (
    <Frame
      title={t.settings.title}
      lead={t.settings.lead(settings.data?.config_file ?? 'config/service.env')}
      actions={
        <Button component="a" href="/admin/docs/" variant="default" leftSection={<IconBook2 size={17} />}>
          {t.settings.reference}
        </Button>
      }
    >
      <Section title={t.settings.system}>
        <Loaded query={system} what={t.settings.system}>
          {(info) => (
            <Facts>
              <Fact name={t.common.version}>{info.version}</Fact>
              {addresses.map(([name, field]) => (
                <Fact key={field} name={name}>
                  <Copyable text={info[field]} what={name} />
                </Fact>
              ))}
            </Facts>
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

function useColumns(): readonly Column<SettingView>[] {
  const t = useTexts().settings
  const formats = useFormats()
  const text = (setting: SettingView) => settingText(setting, t, formats)
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
      id: 'group',
      header: t.group,
      value: ({ group }) => t.groups[group as keyof typeof t.groups] ?? group,
    },
    {
      id: 'value',
      header: t.value,
      share: 30,
      value: text,
      cell: (setting) => (
        <>
          <Text component="span" inherit {...(isQuiet(setting) ? { c: 'dimmed' } : { className: 'mono' })}>
            {text(setting)}
          </Text>{' '}
          {setting.is_set && !setting.secret && (
            <Text component="span" size="xs" c="dimmed">
              {setting.is_default ? t.isDefault : t.isSet}
            </Text>
          )}
        </>
      ),
    },
  ]
}

function isQuiet({ value, secret }: SettingView): boolean {
  return secret || value === null || (Array.isArray(value) && value.length === 0)
}
