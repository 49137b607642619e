import { CloseButton, Group, Pagination, Paper, Stack, Text } from '@mantine/core'
import type { Feature } from 'geojson'
import { useState } from 'react'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import { attributeText } from './features.js'

interface ClickedFeaturesProps {
  readonly features: readonly Feature[]
  readonly onShow: (feature: Feature) => void
  readonly onClose: () => void
}

/** The attributes of the features at a click, one after the other. */
export function ClickedFeatures({ features, onShow, onClose }: ClickedFeaturesProps) {
  const t = useTexts()
  const [at, setAt] = useState(1)
  const feature = features[Math.min(at, features.length) - 1] as Feature
  const step = (n: number) => {
    setAt(n)
    onShow(features[n - 1] as Feature)
  }
  return (
    <Paper withBorder p="md" className="card chosen" aria-live="polite">
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fw={550}>{t.vectors.chosen}</Text>
          <Group gap="xs">
            {features.length > 1 && (
              <Pagination
                size="xs"
                total={features.length}
                value={Math.min(at, features.length)}
                onChange={step}
                getControlProps={(control) => ({ 'aria-label': t.table[control] })}
                getItemProps={(n) => ({ 'aria-label': t.table.page(n) })}
              />
            )}
            <CloseButton aria-label={t.common.close} onClick={onClose} />
          </Group>
        </Group>
        <Facts>
          {feature.id !== undefined && <Fact name={t.vectors.id}>{String(feature.id)}</Fact>}
          {Object.entries(feature.properties ?? {}).map(([key, value]) => (
            <Fact key={key} name={key}>
              {attributeText(value) || '–'}
            </Fact>
          ))}
        </Facts>
      </Stack>
    </Paper>
  )
}
