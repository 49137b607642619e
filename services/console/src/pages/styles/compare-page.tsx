import { NativeSelect, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { listQuery } from '../../api/list.js'
import { STYLES, styleDocumentQuery } from '../../api/styles.js'
import { cameraText, parseCamera } from '../../map/camera.js'
import type { MapLibre } from '../../map/library.js'
import { moveTogether } from '../../map/move-together.js'
import { Swipe } from '../../map/swipe.js'
import { useTexts } from '../../texts/texts.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { useParameter, useParameters } from '../../ui/use-parameter.js'
import { StylePreview } from './style-preview.js'

/** Maximum number of styles to choose from; the URL accepts any style. */
const MAX_CHOICES = 500

export function Page() {
  const t = useTexts()
  return (
    <Frame title={t.styles.compareTitle} lead={t.styles.compareLead} above={[{ label: t.styles.title, to: '/styles' }]}>
      <Loaded query={useQuery(listQuery(STYLES, { limit: MAX_CHOICES }))} what={t.styles.what}>
        {({ items }) => (items.length === 0 ? <Nothing /> : <Comparison codes={items.map(({ code }) => code)} />)}
      </Loaded>
    </Frame>
  )
}

function Nothing() {
  const t = useTexts().styles
  return (
    <Empty title={t.empty} action={<ButtonLink to="/styles">{t.title}</ButtonLink>}>
      {t.emptyAdvice}
    </Empty>
  )
}

/** Compares styles. The URL holds the styles and the camera. */
function Comparison({ codes }: { codes: readonly string[] }) {
  const t = useTexts()
  const [at, setAt] = useParameter('at')
  const left = useSide('left', codes[0] as string)
  const right = useSide('right', codes.find((code) => code !== left.code) ?? left.code)
  const maps = useRef<{ left?: MapLibre; right?: MapLibre }>({})
  const onReady = useCallback((side: 'left' | 'right', map: MapLibre) => {
    maps.current[side] = map
    map.once('remove', () => {
      if (maps.current[side] === map) delete maps.current[side]
    })
    const { left: one, right: other } = maps.current
    if (one !== undefined && other !== undefined) moveTogether(one, other)
  }, [])
  const mapOf = (side: 'left' | 'right', { code, revision }: Side) => (
    <StylePreview
      code={code}
      revision={revision}
      camera={parseCamera(at)}
      onReady={(map) => onReady(side, map)}
      {...(side === 'left' && { onCamera: (now) => setAt(cameraText(now)) })}
    />
  )
  return (
    <Stack>
      <SimpleGrid cols={2} spacing="md">
        <SideChoice label={t.styles.left} codes={codes} side={left} />
        <SideChoice label={t.styles.right} codes={codes} side={right} />
      </SimpleGrid>
      <Swipe label={t.compare.divider} left={mapOf('left', left)} right={mapOf('right', right)} />
    </Stack>
  )
}

interface Side {
  readonly code: string
  /** null: the current revision */
  readonly revision: number | null
  readonly setCode: (code: string) => void
  readonly setRevision: (revision: string | null) => void
}

function useSide(name: 'left' | 'right', fallback: string): Side {
  const [parameters, set] = useParameters()
  const ofRevision = `${name}-revision`
  const revision = Number(parameters.get(ofRevision))
  return {
    code: parameters.get(name) ?? fallback,
    revision: Number.isInteger(revision) && revision > 0 ? revision : null,
    setCode: (code) => set({ [name]: code, [ofRevision]: null }),
    setRevision: (next) => set({ [ofRevision]: next }),
  }
}

function SideChoice({ label, codes, side }: { label: string; codes: readonly string[]; side: Side }) {
  const t = useTexts().styles
  const { code, revision, setCode, setRevision } = side
  const { data } = useQuery(styleDocumentQuery(code, null))
  const revisions = data?.revisions ?? []
  return (
    <SimpleGrid cols={2} spacing="xs">
      <NativeSelect
        label={t.ofStyle(label)}
        value={code}
        data={[...new Set([code, ...codes])]}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <NativeSelect
        label={t.ofRevision(label)}
        value={String(revision ?? data?.revision ?? '')}
        data={revisions.map((one, i) => ({
          value: String(one.revision),
          label: i === 0 ? t.newest(one.revision) : String(one.revision),
        }))}
        onChange={(event) => {
          const next = event.currentTarget.value
          setRevision(next === String(data?.revision) ? null : next)
        }}
      />
    </SimpleGrid>
  )
}
