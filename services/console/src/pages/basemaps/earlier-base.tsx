import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Alert, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { systemQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { TextLink } from '../../ui/links.js'

type Scanned = Pick<AdminBasemap, 'url_template' | 'source_code'>

/** Warns if URLs of basemaps begin with an earlier value of TILE_PUBLIC_BASE_URL: a scan writes it into them. */
export function EarlierBase({ basemaps }: { readonly basemaps: readonly Scanned[] }) {
  const t = useTexts().basemaps
  const now = useQuery(systemQuery).data?.tile_base_url
  const earlier = basemaps.find(({ url_template: url }) => now !== undefined && !url.startsWith(`${now}/tiles/`))
  if (now === undefined || earlier === undefined) return null
  const { url_template: url, source_code: source } = earlier
  return (
    <Alert color="orange">
      <Stack gap="xs">
        <Text size="sm">{t.earlierBase(url.slice(0, url.indexOf('/tiles/')), now)}</Text>
        <TextLink to={`/sources/${source}`}>{t.toTheSource(source)}</TextLink>
      </Stack>
    </Alert>
  )
}
