import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { Alert, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconAlertTriangle from '~icons/alert-triangle'
import { type ScanWarning, scanSourceQuery, scanWarningsQuery } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { Name } from '../../ui/name.js'
import { ServerText } from '../../ui/server-text.js'

/** Limit: warnings of one version in a dialog; the page of the source has all. */
const SHOWN = 5

interface VersionWarningsProps {
  readonly basemap: AdminBasemap
  readonly versions: readonly AdminBasemapVersion[]
}

/** Shows the warnings of the last scan about versions, such as a deepest zoom without tiles. The properties of a version do not tell it. */
export function VersionWarnings({ basemap, versions }: VersionWarningsProps) {
  const t = useTexts().basemaps
  const source = useQuery(scanSourceQuery(basemap.source_code)).data
  const scan = source?.last_scan
  const warnings = useQuery({
    ...scanWarningsQuery(basemap.source_code, scan?.id ?? ''),
    enabled: (scan?.warnings ?? 0) > 0,
  }).data
  if (source === undefined || warnings === undefined) return null
  return versions.map((version) => {
    const own = warnings.items.filter((warning) => isAbout(warning, version.path, source.path))
    if (own.length === 0) return null
    return (
      <Alert key={version.version} color="orange" icon={<IconAlertTriangle />} title={t.scanWarned}>
        <Name>{version.version}</Name>
        <List size="sm">
          {own.slice(0, SHOWN).map(({ number, message, message_code: code, message_params: params }) => (
            <List.Item key={number}>
              <ServerText text={message} code={code} params={params} />
            </List.Item>
          ))}
        </List>
        {own.length > SHOWN && <Text size="sm">{t.moreWarnings(own.length - SHOWN)}</Text>}
      </Alert>
    )
  })
}

/** Warnings name files and folders by their quoted paths below the source. */
export function isAbout({ message_params: params }: Pick<ScanWarning, 'message_params'>, path: string, root: string) {
  if (params === null || !path.startsWith(root)) return false
  const own = JSON.stringify(path.slice(root.length).replace(/^\/+/, '')).slice(0, -1)
  return [params.file, params.folder].some((name) => {
    const rest = typeof name === 'string' && name.startsWith(own) ? name.slice(own.length) : 'elsewhere'
    return /^["/]/.test(rest)
  })
}
