import type { AdminBasemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import { Group, NativeSelect, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core'
import { useCallback, useRef, useState } from 'react'
import { segment } from '../../api/client.js'
import { cameraText, parseCamera } from '../../map/camera.js'
import { VersionMap } from '../../map/lazy.js'
import type { MapLibre } from '../../map/library.js'
import { moveTogether } from '../../map/move-together.js'
import { Swipe } from '../../map/swipe.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink } from '../../ui/links.js'
import { Name } from '../../ui/name.js'
import { Page as Frame } from '../../ui/page.js'
import { shortText } from '../../ui/shown-text.js'
import { useParameter } from '../../ui/use-parameter.js'
import { TileDifferences } from './tile-differences.js'
import { WithBasemap } from './use-basemap.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  const here = `/basemaps/${segment(code)}`
  return (
    <WithBasemap code={code}>
      {(basemap) => (
        <Frame
          title={`${t.compare.title} · ${basemap.name}`}
          lead={t.compare.of(shortText(code))}
          above={[
            { label: t.basemaps.title, to: '/basemaps' },
            { label: basemap.name, to: here },
          ]}
        >
          {basemap.versions.length < 2 ? (
            <Empty title={t.compare.needTwo} action={<ButtonLink to={here}>{shortText(basemap.name)}</ButtonLink>}>
              {t.compare.needTwoAdvice}
            </Empty>
          ) : (
            <Comparison basemap={basemap} />
          )}
        </Frame>
      )}
    </WithBasemap>
  )
}

const VIEWS = ['split', 'swipe', 'tiles'] as const

/** Compares two versions. The URL holds the versions, the camera and the mode. */
function Comparison({ basemap: { code, versions } }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const [at, setAt] = useParameter('at')
  const [view, setView] = useParameter('view')
  const [leftLabel, setLeft] = useParameter('left')
  const [rightLabel, setRight] = useParameter('right')
  // Changing the mode creates new maps, which start with the camera of the previous ones.
  const [camera, setCamera] = useState(() => parseCamera(at))
  const left = versions.find((v) => v.version === leftLabel) ?? versions.at(-2)
  const right =
    versions.find((v) => v.version === rightLabel) ?? versions.toReversed().find((v) => v.version !== left?.version)
  const maps = useRef<{ left?: MapLibre; right?: MapLibre }>({})
  const onReady = useCallback((side: 'left' | 'right', map: MapLibre) => {
    maps.current[side] = map
    map.once('remove', () => {
      if (maps.current[side] === map) delete maps.current[side]
    })
    const { left, right } = maps.current
    if (left !== undefined && right !== undefined) moveTogether(left, right)
  }, [])
  if (left === undefined || right === undefined) return null
  const shown = VIEWS.find((one) => one === view) ?? 'split'
  const swipe = shown === 'swipe'
  const oneMap = shown !== 'split'
  const sides: readonly [Side, Side] = [
    { side: 'left', version: left, label: t.compare.left, choose: setLeft },
    { side: 'right', version: right, label: t.compare.right, choose: setRight },
  ]
  const mapOf = ({ side, version }: Side) => (
    <VersionMap
      code={code}
      version={version}
      grid={false}
      camera={camera}
      tall={swipe}
      onReady={(map) => onReady(side, map)}
      {...(side === 'left' && { onCamera: (now) => setAt(cameraText(now)) })}
    />
  )
  const choices = sides.map((side) => <VersionChoice key={side.side} code={code} versions={versions} {...side} />)
  return (
    <Stack>
      <Group>
        <SegmentedControl
          aria-label={t.compare.view}
          value={shown}
          data={VIEWS.map((value) => ({ value, label: t.compare.views[value] }))}
          onChange={(value) => {
            setCamera(parseCamera(at))
            setView(value === 'split' ? null : value)
          }}
        />
      </Group>
      <SimpleGrid cols={{ base: oneMap ? 2 : 1, md: 2 }} spacing="md">
        {oneMap
          ? choices
          : sides.map((side, i) => (
              <Stack key={side.side} gap="xs">
                {choices[i]}
                {mapOf(side)}
              </Stack>
            ))}
      </SimpleGrid>
      {swipe && <Swipe label={t.compare.divider} left={mapOf(sides[0])} right={mapOf(sides[1])} />}
      {shown === 'tiles' && <TileDifferences code={code} left={left} right={right} />}
    </Stack>
  )
}

interface Side {
  readonly side: 'left' | 'right'
  readonly version: BasemapVersion
  readonly label: string
  readonly choose: (version: string) => void
}

function VersionChoice(props: Side & { readonly code: string; readonly versions: readonly BasemapVersion[] }) {
  const { code, version, versions, label, choose } = props
  const t = useTexts()
  return (
    <Stack gap={4}>
      <NativeSelect
        label={label}
        value={version.version}
        data={versions.map((v) => v.version)}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <Text size="sm" c="dimmed" component="div">
        <Name>{`${code} / ${version.version}`}</Name> · {version.storage} · {version.format} · {t.common.zooms}{' '}
        {version.min_zoom}–{version.max_zoom}
      </Text>
    </Stack>
  )
}
