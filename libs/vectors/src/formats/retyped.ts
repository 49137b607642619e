import type { FieldType, OpenVector, SourceFeature, SourceLayer, SourceValue } from './feature.js'
import { seenInCell, typeOfCells, valueOfCell } from './csv.js'

/**
 * Finds the types of texts by all their values, for formats that have no types, and drops the ids that a conversion has invented.
 *
 * @param hasOnlyTexts true if the columns of texts may be numbers
 */
export function retyped({ layers, close }: OpenVector, hasOnlyTexts: boolean): OpenVector {
  return { layers: layers.map((layer) => (hasOnlyTexts ? withTypes(layer) : withoutIds(layer))), close }
}

function withTypes(layer: SourceLayer): SourceLayer {
  const seen: number[] = layer.fields.map(() => 0)
  for (const { values } of layer.features()) {
    for (let i = 0; i < values.length; i++) seen[i] = (seen[i] as number) | seenInCell(String(values[i] ?? ''))
  }
  const types = layer.fields.map(({ type }, i) => (type === 'string' ? typeOfCells(seen[i] as number) : type))
  const inForm = (value: SourceValue, i: number) =>
    typeof value === 'string' && layer.fields[i]?.type === 'string' ? valueOfCell(value, types[i] as FieldType) : value
  return {
    ...layer,
    fields: layer.fields.map((field, i) => ({ ...field, type: types[i] as FieldType })),
    *features(): Generator<SourceFeature, void> {
      for (const feature of layer.features()) yield { ...feature, id: null, values: feature.values.map(inForm) }
    },
  }
}

function withoutIds(layer: SourceLayer): SourceLayer {
  return {
    ...layer,
    *features(): Generator<SourceFeature, void> {
      for (const feature of layer.features()) yield { ...feature, id: null }
    },
  }
}
