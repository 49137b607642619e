import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { Box, Group, Stack, Text } from '@mantine/core'
import { segment } from '../../api/client.js'
import type { AuditEntry } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { AuditSubject, useActionName } from '../../ui/audit-entry.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { NameLink } from '../../ui/name.js'
import { Section } from '../../ui/section.js'
import { Ago } from '../../ui/time.js'
import { ScanStatus } from '../sources/scan-status.js'

const SHOWN = 6

export function RecentScans({ sources }: { sources: readonly ScanSource[] }) {
  const t = useTexts()
  const scanned = sources
    .filter((source) => source.last_scan !== null)
    .sort((a, b) => (b.last_scan?.started_at ?? '').localeCompare(a.last_scan?.started_at ?? ''))
  return (
    <Section
      title={t.overview.scans}
      actions={
        <ButtonLink to="/sources" variant="subtle" size="compact-sm">
          {t.nav.sources}
        </ButtonLink>
      }
    >
      {scanned.length === 0 && <Text c="dimmed">{t.overview.noScans}</Text>}
      <Stack gap="sm">
        {scanned.slice(0, SHOWN).map(({ code, name, last_scan: scan }) => (
          <Group key={code} justify="space-between" gap="xs">
            <div>
              <NameLink to={`/sources/${segment(code)}`} name={name} />
              <Text size="sm" c="dimmed">
                {scan && t.sources.outcome(scan.added, scan.updated, scan.missing)} ·{' '}
                <Ago at={scan?.started_at ?? null} />
              </Text>
            </div>
            {scan && <ScanStatus scan={scan} />}
          </Group>
        ))}
      </Stack>
    </Section>
  )
}

export function RecentChanges({ entries }: { entries: readonly AuditEntry[] }) {
  const t = useTexts()
  const nameOf = useActionName()
  return (
    <Section
      title={t.overview.changes}
      actions={
        <ButtonLink to="/audit" variant="subtle" size="compact-sm">
          {t.overview.allChanges}
        </ButtonLink>
      }
    >
      {entries.length === 0 && <Text c="dimmed">{t.overview.noChanges}</Text>}
      <Stack gap="sm">
        {entries.slice(0, SHOWN).map((entry) => (
          <Group key={entry.id} justify="space-between" gap="xs" wrap="nowrap">
            <Box miw={0}>
              <TextLink to={`/audit/${entry.id}`} display="inline-block">
                {nameOf(entry.action)}
              </TextLink>
              <Text size="sm" c="dimmed" lineClamp={1}>
                <AuditSubject entry={entry} />
              </Text>
            </Box>
            <Text size="sm" c="dimmed" ta="end" className="nowrap">
              {entry.actor}
              <br />
              <Ago at={entry.at} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}
