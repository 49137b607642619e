import type { AdminVector } from '@gateway/contracts/vector.js'
import { Stack, Text } from '@mantine/core'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { Copyable, CopyBlock } from '../../ui/copy.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Section } from '../../ui/section.js'
import { TOKEN_PLACE } from '../basemaps/snippets.js'

/** File name extensions that desktop software expects for downloads. */
const NAMED: Readonly<Partial<Record<AdminVector['kind'], 'geojson' | 'zip'>>> = {
  geojson: 'geojson',
  shapefile: 'zip',
  zipped_shapefile: 'zip',
}

/** The URLs of a vector, and commands that fetch it. */
export function VectorAddresses({ vector }: { vector: AdminVector }) {
  const t = useTexts()
  const { code, kind, download_url: url } = vector
  const name = NAMED[kind]
  const base = url.slice(0, url.lastIndexOf('/vectors/'))
  const named = name && `${base}/vectors/${segment(code)}.${name}`
  const tileJson = `${base}/vectors/${segment(code)}/tilejson.json`
  const service = `${base}/ogc`
  const read = `${named ?? url}?token=${TOKEN_PLACE}`
  const gdal = name === 'zip' ? `/vsizip//vsicurl/${read}` : `/vsicurl/${read}`
  return (
    <Section title={t.basemaps.addresses} quiet>
      <Stack>
        <Facts>
          <Fact name={t.vectors.address} wide>
            <Copyable text={url} what={t.vectors.address} />
          </Fact>
          {named !== undefined && name !== undefined && (
            <Fact name={t.maps.service[name]} wide>
              <Copyable text={named} what={t.maps.service[name]} />
            </Fact>
          )}
          {vector.tiles.built_at !== null && (
            <Fact name={t.vectors.tileJson} wide>
              <Copyable text={tileJson} what={t.vectors.tileJson} />
            </Fact>
          )}
          <Fact name={t.vectors.featuresService} wide>
            <Copyable text={service} what={t.vectors.featuresService} />
          </Fact>
        </Facts>
        <Text size="sm" c="dimmed">
          {t.basemaps.addressesLead}
        </Text>
        <CopyBlock
          text={`curl -fsS -H 'X-Access-Token: ${TOKEN_PLACE}' -o ${segment(code)}.${name ?? kind} '${named ?? url}'`}
          what={t.basemaps.addressOf('curl')}
        />
        <CopyBlock text={`ogrinfo -al -so '${gdal}'`} what={t.basemaps.addressOf('GDAL')} />
        <CopyBlock
          text={`ogrinfo -al -so 'OAPIF:${service}/collections/${segment(code)}?token=${TOKEN_PLACE}'`}
          what={t.basemaps.addressOf('GDAL (OAPIF)')}
        />
      </Stack>
    </Section>
  )
}
