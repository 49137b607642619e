import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import type { StyleLayer } from '../../map/style-layers.js'
import { useTexts } from '../../texts/texts.js'
import { shortText } from '../../ui/shown-text.js'

interface LayerListProps {
  readonly layers: readonly StyleLayer[]
  readonly hidden: ReadonlySet<string>
  readonly onChange: (hidden: ReadonlySet<string>) => void
}

/** The layers of a style, topmost first as on the map; each can be hidden on this page. */
export function LayerList({ layers, hidden, onChange }: LayerListProps) {
  const t = useTexts().styles
  const toggle = (id: string, isShown: boolean) => {
    const next = new Set(hidden)
    if (isShown) next.delete(id)
    else next.add(id)
    onChange(next)
  }
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between">
        <Text size="sm" c="dimmed" aria-live="polite">
          {t.layerCount(layers.length - hidden.size, layers.length)}
        </Text>
        <Group gap={4}>
          <Button size="compact-xs" variant="default" onClick={() => onChange(new Set())}>
            {t.showAll}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => onChange(new Set(layers.map(({ id }) => id)))}>
            {t.hideAll}
          </Button>
        </Group>
      </Group>
      {layers.toReversed().map(({ id, type }) => (
        <Checkbox
          key={id}
          size="xs"
          label={shortText(id)}
          description={type}
          checked={!hidden.has(id)}
          onChange={(event) => toggle(id, event.currentTarget.checked)}
        />
      ))}
    </Stack>
  )
}
