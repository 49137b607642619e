import { Button } from '@mantine/core'
import IconArrowDown from '~icons/arrow-down'
import IconArrowUp from '~icons/arrow-up'
import { useTexts } from '../../texts/texts.js'
import { RowButton } from '../../ui/row-button.js'
import { shortText } from '../../ui/shown-text.js'
import type { EditedLayer } from './style-edits.js'

interface LayerOrderProps {
  /** the lowest first */
  readonly layers: readonly EditedLayer[]
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
  readonly onMove: (id: string, by: 1 | -1) => void
}

/** The layers, the topmost first as on the map: one is chosen, and each can be moved. */
export function LayerOrder({ layers, chosen, onChoose, onMove }: LayerOrderProps) {
  const t = useTexts().maps.preview
  return (
    <ol className="edited-layers">
      {layers
        .map(({ id, type }, i) => (
          <li key={id}>
            <Button
              size="compact-sm"
              justify="start"
              variant={id === chosen ? 'light' : 'subtle'}
              color={id === chosen ? 'sea' : 'gray'}
              aria-pressed={id === chosen}
              title={`${id} (${type})`}
              onClick={() => onChoose(id)}
            >
              {shortText(id)}
            </Button>
            <RowButton
              icon={IconArrowUp}
              label={t.up(id)}
              onClick={i === layers.length - 1 ? null : () => onMove(id, 1)}
            />
            <RowButton icon={IconArrowDown} label={t.down(id)} onClick={i === 0 ? null : () => onMove(id, -1)} />
          </li>
        ))
        .toReversed()}
    </ol>
  )
}
