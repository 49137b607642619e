import { Group, NativeSelect, Slider, Stack, Text } from '@mantine/core'
import IconArrowDown from '~icons/arrow-down'
import IconArrowUp from '~icons/arrow-up'
import IconFocus2 from '~icons/focus-2'
import IconX from '~icons/x'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { NameLink } from '../../ui/name.js'
import { RowButton } from '../../ui/row-button.js'
import { Status } from '../../ui/status.js'
import { keyOf, type ShownLayer } from './shown-layers.js'
import type { LayerState } from './use-layers.js'

interface LayerRowsProps {
  /** the lowest first */
  readonly states: readonly LayerState[]
  readonly onChange: (layers: readonly ShownLayer[]) => void
  readonly onShow: (state: LayerState) => void
}

/** The layers, the topmost first as on the map: their order, version and opacity. */
export function LayerRows({ states, onChange, onShow }: LayerRowsProps) {
  const layers = states.map(({ layer }) => layer)
  const move = (from: number, to: number) => {
    const rest = layers.toSpliced(from, 1)
    onChange(rest.toSpliced(to, 0, layers[from] as ShownLayer))
  }
  const set = (i: number, change: Partial<ShownLayer>) =>
    onChange(layers.with(i, { ...(layers[i] as ShownLayer), ...change }))
  return (
    <Stack component="ol" gap="md" className="layer-rows">
      {states
        .map((state, i) => (
          <LayerRow
            key={keyOf(state.layer)}
            state={state}
            onVersion={(version) => set(i, { version })}
            onOpacity={(opacity) => set(i, { opacity })}
            onUp={i === states.length - 1 ? null : () => move(i, i + 1)}
            onDown={i === 0 ? null : () => move(i, i - 1)}
            onShow={() => onShow(state)}
            onRemove={() => onChange(layers.toSpliced(i, 1))}
          />
        ))
        .toReversed()}
    </Stack>
  )
}

interface LayerRowProps {
  readonly state: LayerState
  readonly onVersion: (version: string) => void
  readonly onOpacity: (percent: number) => void
  readonly onUp: (() => void) | null
  readonly onDown: (() => void) | null
  readonly onShow: () => void
  readonly onRemove: () => void
}

function LayerRow({ state, onVersion, onOpacity, onUp, onDown, onShow, onRemove }: LayerRowProps) {
  const t = useTexts().maps.preview
  const { layer, name, versions, problem, bounds } = state
  const page = `/${layer.kind === 'basemap' ? 'basemaps' : 'vectors'}/${segment(layer.code)}`
  return (
    <Stack component="li" gap={4}>
      <Group gap={4} wrap="nowrap" justify="space-between">
        <NameLink to={page} miw={0} name={name} />
        <Group gap={2} wrap="nowrap">
          <RowButton icon={IconFocus2} label={t.show(name)} onClick={bounds === null ? null : onShow} />
          <RowButton icon={IconArrowUp} label={t.up(name)} onClick={onUp} />
          <RowButton icon={IconArrowDown} label={t.down(name)} onClick={onDown} />
          <RowButton icon={IconX} label={t.remove(name)} onClick={onRemove} />
        </Group>
      </Group>
      {problem !== null && problem !== 'loading' && <Status tone="warning">{t.problems[problem]}</Status>}
      {versions.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label={t.versionOf(name)}
          value={layer.version}
          data={[{ value: '', label: t.default }, ...versions]}
          onChange={({ currentTarget: { value } }) => onVersion(value)}
        />
      )}
      <Group gap="xs" wrap="nowrap">
        <Text size="xs" c="dimmed">
          {t.opacity}
        </Text>
        <Slider
          flex={1}
          size="sm"
          min={0}
          max={100}
          step={5}
          value={layer.opacity}
          onChange={onOpacity}
          label={(percent) => `${percent} %`}
          thumbLabel={t.opacityOf(name)}
        />
        <Text size="xs" className="percent">
          {layer.opacity} %
        </Text>
      </Group>
    </Stack>
  )
}
