import type { AdminVector } from '@gateway/contracts/vector.js'
import { Stack, Text } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'
import { Copyable } from '../../ui/copy.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Section } from '../../ui/section.js'
import { Snippets } from '../basemaps/addresses.js'
import { VECTOR_CLIENTS, vectorSnippet, vectorUrls } from './snippets.js'
import { useTileLayers, useVectorToken } from './use-vector-map.js'

/** The URLs of a vector by service, and what is pasted into clients. */
export function VectorAddresses({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const layers = useTileLayers(vector, useVectorToken(vector).data?.token).data?.vector_layers ?? []
  const names = layers.map(({ id }) => id)
  return (
    <Section title={t.basemaps.addresses} quiet>
      <Stack>
        <Facts>
          {vectorUrls(vector).map(([service, url]) => (
            <Fact key={service} name={t.vectors.services[service]} wide>
              <Copyable text={url} what={t.vectors.services[service]} />
            </Fact>
          ))}
        </Facts>
        <Text size="sm" c="dimmed">
          {t.vectors.addressesLead}
        </Text>
        <Snippets texts={VECTOR_CLIENTS.map((client) => [client, vectorSnippet(client, vector, names)])} />
      </Stack>
    </Section>
  )
}
