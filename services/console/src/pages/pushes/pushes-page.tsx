import { Tabs } from '@mantine/core'
import IconPlus from '~icons/plus'
import IconSend from '~icons/send'
import { useTexts } from '../../texts/texts.js'
import { ButtonLink } from '../../ui/links.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { useParameters } from '../../ui/use-parameter.js'
import { ExportsTable } from './exports-table.js'
import { RecordsTable } from './records-table.js'
import { TargetsTable } from './targets-table.js'

/** Records and targets; the URL holds the selected tab. */
export function Page() {
  const t = useTexts()
  const [parameters, set] = useParameters()
  const tab = parameters.get('show')
  // Clears the search, which belongs to the other tab.
  const show = (value: string | null) =>
    set({ ...Object.fromEntries([...parameters.keys()].map((name) => [name, null])), show: value })
  const shown = tab === 'targets' || tab === 'exports' ? tab : 'records'
  return (
    <Frame
      title={t.pushes.title}
      lead={t.pushes.lead}
      actions={
        <>
          <ButtonLink to="/pushes/targets/new" needs="admin" variant="default" icon={IconPlus}>
            {t.pushes.addTarget}
          </ButtonLink>
          <ButtonLink to="/pushes/new" needs="operator" icon={IconSend}>
            {t.pushes.newPush}
          </ButtonLink>
        </>
      }
    >
      <Tabs value={shown} onChange={(value) => show(value === 'records' ? null : value)} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="records">{t.pushes.records}</Tabs.Tab>
          <Tabs.Tab value="targets">{t.pushes.targets}</Tabs.Tab>
          <Tabs.Tab value="exports">{t.exports.title}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="records" pt="md">
          <Section title={t.pushes.records} quiet>
            <RecordsTable />
          </Section>
        </Tabs.Panel>
        <Tabs.Panel value="targets" pt="md">
          <Section title={t.pushes.targets} quiet>
            <TargetsTable />
          </Section>
        </Tabs.Panel>
        <Tabs.Panel value="exports" pt="md">
          <Section title={t.exports.title} quiet>
            <ExportsTable />
          </Section>
        </Tabs.Panel>
      </Tabs>
    </Frame>
  )
}
