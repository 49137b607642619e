import type { ScanSource, SourceStorage } from '@gateway/contracts/scan-source.js'
import { Button, Code, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { sourceStorageQuery } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'
import { ServerText } from '../../ui/server-text.js'
import { shownText } from '../../ui/shown-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { useFormats } from '../../ui/use-formats.js'

/** Matches `s3://bucket/prefix`, and addresses of http(s) and of databases. */
export const REMOTE = /^(s3|https?|postgres(ql)?):\/\//i

const TONES: Record<SourceStorage['state'], Tone> = {
  answers: 'good',
  missing: 'bad',
  no_credentials: 'bad',
  refuses: 'bad',
  no_answer: 'warning',
}

/** The endpoint of a remote source and its current response. */
export function Storage({ source }: { source: ScanSource }) {
  const t = useTexts()
  const formats = useFormats()
  const query = useQuery(sourceStorageQuery(source.code))
  return (
    <Section title={t.sources.storage}>
      <Loaded query={query} what={t.sources.whatStorage}>
        {({ endpoint, state, message, message_code, message_params, milliseconds, queries }) => (
          <>
            <Facts>
              <Fact name={t.common.path}>{shownText(source.path)}</Fact>
              <Fact name={t.sources.endpoint}>{shownText(endpoint)}</Fact>
              <Fact name={t.common.status}>
                <Status tone={TONES[state]}>{t.sources.storageStates[state]}</Status>
              </Fact>
              <Fact name={t.sources.took}>{formats.duration(milliseconds / 1000)}</Fact>
              {message !== '' && (
                <Fact name={t.sources.message}>
                  <ServerText text={shownText(message)} code={message_code} params={message_params} />
                </Fact>
              )}
            </Facts>
            {queries !== undefined && <Queries queries={queries} />}
            <Button
              mt="sm"
              w="fit-content"
              size="compact-sm"
              variant="default"
              loading={query.isFetching}
              onClick={() => query.refetch()}
            >
              {t.sources.askAgain}
            </Button>
          </>
        )}
      </Loaded>
    </Section>
  )
}

/** The queries of the gateway that a database runs now. */
function Queries({ queries }: { queries: NonNullable<SourceStorage['queries']> }) {
  const t = useTexts().sources
  const formats = useFormats()
  if (queries.length === 0) return <Text size="sm">{t.noQueries}</Text>
  return (
    <Table mt="sm" fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.queries}</Table.Th>
          <Table.Th>{t.took}</Table.Th>
          <Table.Th>{t.waitsFor}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {queries.map(({ query, seconds, waits_for: waitsFor }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two queries may be the same
          <Table.Tr key={i}>
            <Table.Td>
              <Code style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{shownText(query)}</Code>
            </Table.Td>
            <Table.Td>{formats.duration(seconds)}</Table.Td>
            <Table.Td>{waitsFor ?? '–'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
