import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { AnyPush } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { BoundsText } from '../basemaps/bounds-text.js'

/** Says whether a whole version or an exported part of it is pushed. Renders nothing for other pushes. */
export function PushedText({ record }: { record: AnyPush }) {
  const t = useTexts()
  if (!('export_id' in record)) return null
  const { export_id: id, export: part } = record
  if (id === null) return <Dimmed>{t.pushes.asItLies}</Dimmed>
  if (part === null) return <Dimmed>{t.pushes.goneExport}</Dimmed>
  return (
    <Dimmed>
      {t.pushes.anExport(`${part.zoom_min}–${part.zoom_max}`)}
      {part.bounds !== null && (
        <>
          {' · '}
          <BoundsText bounds={part.bounds} />
        </>
      )}
    </Dimmed>
  )
}

function Dimmed({ children }: { children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed" span>
      {children}
    </Text>
  )
}
