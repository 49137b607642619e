import type { AdminStyle } from '@gateway/contracts/style.js'
import { Alert, List, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import IconPencil from '~icons/pencil'
import { segment } from '../../api/client.js'
import { deleteStyle, IMPORTED_STYLES, styleQuery, updateStyle } from '../../api/styles.js'
import { layersOf } from '../../map/style-layers.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { Availability, SourceLink } from '../../ui/columns.js'
import { Copyable } from '../../ui/copy.js'
import { DeleteButton } from '../../ui/delete.js'
import { Fact, Facts } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { NameLink } from '../../ui/name.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { ServerText } from '../../ui/server-text.js'
import { shortText } from '../../ui/shown-text.js'
import { Ago } from '../../ui/time.js'
import { WithdrawButton } from '../../ui/withdraw.js'
import { WithdrawnMark } from '../../ui/withdrawn.js'
import { TOKEN_PLACE } from '../basemaps/snippets.js'
import { ImportButton } from './import-button.js'
import { LayerList } from './layer-list.js'
import { StylePreview, useStylePreview } from './style-preview.js'
import { type Pointed, pointedOf, UnderCursor } from './under-cursor.js'

const NONE: ReadonlySet<string> = new Set()

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  return (
    <Loaded
      query={useQuery(styleQuery(code))}
      what={t.styles.what}
      missing={{ title: t.styles.noSuch(shortText(code)), back: { label: t.styles.title, to: '/styles' } }}
    >
      {(style) => <Shown style={style} />}
    </Loaded>
  )
}

function Shown({ style }: { style: AdminStyle }) {
  const t = useTexts()
  const { code, name } = style
  return (
    <Frame
      title={name}
      lead={<span className="mono">{code}</span>}
      above={[{ label: t.styles.title, to: '/styles' }]}
      actions={
        <>
          <WithdrawnMark of={style} />
          <ButtonLink to={`/styles/${segment(code)}/edit`} needs="operator" icon={IconPencil}>
            {t.styles.edit}
          </ButtonLink>
          {style.source_code === IMPORTED_STYLES && <ImportButton of={code} />}
          <ButtonLink to={`/styles/compare?left=${segment(code)}`} variant="default">
            {t.styles.compare}
          </ButtonLink>
          <MoreMenu needs="operator">
            <WithdrawButton
              withdrawal={(withdrawn) => updateStyle(code, withdrawn)}
              name={name}
              withdrawn={style.withdrawn}
            />
            <DeleteButton deletion={() => deleteStyle(code)} name={name} words={t.remove.map} to="/styles" />
          </MoreMenu>
        </>
      }
    >
      <Problems style={style} />
      <MapAndLayers code={code} />
      <Section title={t.maps.facts} quiet>
        <Details style={style} />
      </Section>
    </Frame>
  )
}

function Problems({ style: { problems } }: { style: AdminStyle }) {
  const t = useTexts().styles
  if (problems.length === 0) return null
  return (
    <Alert color="orange" title={t.problemsTitle}>
      <List size="sm">
        {problems.map(({ message, message_code: code, message_params: params }) => (
          <List.Item key={message}>
            <ServerText text={message} code={code} params={params} />
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

function MapAndLayers({ code }: { code: string }) {
  const t = useTexts().styles
  const { shown } = useStylePreview(code, null)
  const [hidden, setHidden] = useState(NONE)
  const [pointed, setPointed] = useState<readonly Pointed[]>([])
  const onPoint = useCallback((features: Parameters<typeof pointedOf>[0]) => setPointed(pointedOf(features)), [])
  return (
    <div className="map-and-side">
      <StylePreview code={code} revision={null} hidden={hidden} onPoint={onPoint} />
      <div className="side">
        <Section title={t.under}>
          <UnderCursor pointed={pointed} />
        </Section>
        <Section title={t.layers}>
          {shown !== undefined && <LayerList layers={layersOf(shown)} hidden={hidden} onChange={setHidden} />}
        </Section>
      </div>
    </div>
  )
}

function Details({ style }: { style: AdminStyle }) {
  const t = useTexts()
  const { sources, fonts, icons, sprites, hosts } = style
  const listed = (names: readonly string[]) => (names.length === 0 ? t.styles.none : names.join(', '))
  return (
    <Stack>
      <Facts>
        <Fact name={t.basemaps.health}>
          <Availability available={style.available} t={t} />
        </Fact>
        <Fact name={t.styles.revision}>{String(style.revision)}</Fact>
        <Fact name={t.common.source}>
          <SourceLink code={style.source_code} />
        </Fact>
        <Fact name={t.common.updated}>
          <Ago at={style.updated_at} />
        </Fact>
        <Fact name={t.styles.sources}>
          {sources.length === 0
            ? t.styles.none
            : sources.map(({ name, kind, code }) => (
                <span key={name}>
                  <NameLink to={`/${kind}s/${segment(code)}`} name={code} />{' '}
                </span>
              ))}
        </Fact>
        <Fact name={t.styles.fonts}>{listed(fonts)}</Fact>
        <Fact name={t.styles.icons}>{listed(icons)}</Fact>
        <Fact name={t.styles.sprites}>{listed(sprites)}</Fact>
        {hosts.length > 0 && <Fact name={t.styles.hosts}>{`${hosts.join(', ')}. ${t.styles.hostsNote}`}</Fact>}
        <Fact name={t.styles.address} wide>
          <Copyable text={`${style.style_url}?token=${TOKEN_PLACE}`} what={t.styles.address} />
        </Fact>
      </Facts>
    </Stack>
  )
}
