import { Text } from '@mantine/core'
import type { MapGeoJSONFeature } from 'maplibre-gl'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Name } from '../../ui/name.js'

/** Maximum number of features that are named; the ones below are mostly backgrounds. */
const MAX_NAMED = 6

export interface Pointed {
  readonly layer: string
  readonly name: string
}

/** Returns the names of the features at one point, topmost first, without duplicates. */
export function pointedOf(features: readonly MapGeoJSONFeature[]): readonly Pointed[] {
  const named = features.map(({ layer, properties, id }) => ({
    layer: layer.id,
    name: nameOf(properties) ?? (id === undefined ? '–' : String(id)),
  }))
  const byText = new Map(named.map((one) => [`${one.layer}\n${one.name}`, one]))
  return [...byText.values()].slice(0, MAX_NAMED)
}

function nameOf(properties: Readonly<Record<string, unknown>>): string | null {
  const key = ['name', 'name:zh', 'name:en', 'NAME'].find((one) => properties[one])
  return key === undefined ? null : String(properties[key])
}

export function UnderCursor({ pointed }: { pointed: readonly Pointed[] }) {
  const t = useTexts().styles
  if (pointed.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t.underNothing}
      </Text>
    )
  return (
    <Facts>
      {pointed.map(({ layer, name }) => (
        <Fact key={`${layer} ${name}`} name={layer}>
          <Name>{name}</Name>
        </Fact>
      ))}
    </Facts>
  )
}
