import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { NativeSelect, SimpleGrid, Stack, Text } from '@mantine/core'
import { useCallback, useRef, useState } from 'react'
import { useParams } from 'react-router'
import { segment } from '../../api/client.js'
import { cameraText, parseCamera } from '../../map/camera.js'
import type { MapLibre } from '../../map/library.js'
import { moveTogether } from '../../map/move-together.js'
import { VersionMap } from '../../map/version-map.js'
import { useTexts } from '../../texts/texts.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink } from '../../ui/links.js'
import { Page as Frame } from '../../ui/page.js'
import { useParameter } from '../../ui/use-parameter.js'
import { WithBasemap } from './use-basemap.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  const here = `/basemaps/${segment(code)}`
  return (
    <WithBasemap code={code}>
      {(basemap) => (
        <Frame
          title={t.compare.title}
          lead={t.compare.together}
          above={[
            { label: t.basemaps.title, to: '/basemaps' },
            { label: basemap.name, to: here },
          ]}
        >
          {basemap.versions.length < 2 ? (
            <Empty title={t.compare.needTwo} action={<ButtonLink to={here}>{basemap.name}</ButtonLink>}>
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

/** Which versions are compared, and where, is in the address. */
function Comparison({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts()
  const { versions } = basemap
  const [at, setAt] = useParameter('at')
  const [camera] = useState(() => parseCamera(at))
  const [leftLabel, setLeft] = useParameter('left')
  const [rightLabel, setRight] = useParameter('right')
  const left = versions.find((v) => v.version === leftLabel) ?? versions.at(-2)
  const right =
    versions.find((v) => v.version === rightLabel) ?? versions.toReversed().find((v) => v.version !== left?.version)
  const maps = useRef<Record<'left' | 'right', MapLibre | null>>({ left: null, right: null })
  const ready = useCallback((side: 'left' | 'right', map: MapLibre) => {
    maps.current[side] = map
    const { left, right } = maps.current
    if (left !== null && right !== null) moveTogether(left, right)
  }, [])
  const sides = [
    ['left', left, t.compare.left, setLeft],
    ['right', right, t.compare.right, setRight],
  ] as const
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      {sides.map(([side, version, label, choose]) =>
        version === undefined ? null : (
          <Stack key={side} gap="xs">
            <NativeSelect
              label={label}
              value={version.version}
              data={versions.map((v) => v.version)}
              onChange={(event) => choose(event.currentTarget.value)}
            />
            <VersionMap
              code={basemap.code}
              version={version}
              grid={false}
              camera={camera}
              onReady={(map) => ready(side, map)}
              {...(side === 'left' && { onCamera: (now) => setAt(cameraText(now)) })}
            />
            <Text size="sm" c="dimmed">
              {version.storage} · {version.format} · {t.common.zooms} {version.min_zoom}–{version.max_zoom}
            </Text>
          </Stack>
        ),
      )}
    </SimpleGrid>
  )
}
