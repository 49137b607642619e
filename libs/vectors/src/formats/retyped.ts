import type { GdalKind } from './convert-by-gdal.js'
import { seenInCell, typeOfCells, valueOfCell } from './csv.js'
import type { FieldType, OpenVector, SourceFeature, SourceLayer, SourceValue } from './feature.js'

/** An attribute that identifies the features of GML. */
const GML_ID = 'gml_id'
/** The box of a feature, which newer versions of GDAL take for attributes if there is no schema. */
const GML_BOX = ['lowerCorner', 'upperCorner']

/**
 * Takes the ids away that a conversion has invented; those of a geodatabase are its own. In GML, which has no types, a text column whose values all are
 * numbers becomes one of numbers, and `gml_id` is the feature's id. Layers that a driver of GPX offers although the file has none of them are left out.
 */
export function retyped({ layers, close }: OpenVector, kind: GdalKind): OpenVector {
  if (kind === 'zipped_geodatabase') return { layers, close }
  const present = kind === 'gpx' ? layers.filter(hasFeatures) : layers
  return { layers: present.map(kind === 'gml' ? withTypes : withoutIds), close }
}

function hasFeatures(layer: SourceLayer): boolean {
  for (const _ of layer.features()) return true
  return false
}

function withTypes(layer: SourceLayer): SourceLayer {
  const seen: number[] = layer.fields.map(() => 0)
  for (const { values } of layer.features()) {
    for (let i = 0; i < values.length; i++) seen[i] = (seen[i] as number) | seenInCell(String(values[i] ?? ''))
  }
  const types = layer.fields.map(({ type }, i) => (type === 'string' ? typeOfCells(seen[i] as number) : type))
  const inForm = (value: SourceValue, i: number) =>
    typeof value === 'string' && layer.fields[i]?.type === 'string' ? valueOfCell(value, types[i] as FieldType) : value
  const idAt = layer.fields.findIndex(({ name }) => name === GML_ID)
  const hasBox = GML_BOX.every((corner) => layer.fields.some(({ name }) => name === corner))
  const isShown = (_: unknown, i: number) =>
    i !== idAt && !(hasBox && GML_BOX.includes(layer.fields[i]?.name as string))
  return {
    ...layer,
    fields: layer.fields.map((field, i) => ({ ...field, type: types[i] as FieldType })).filter(isShown),
    *features(): Generator<SourceFeature, void> {
      for (const feature of layer.features()) {
        const id = (feature.values[idAt] ?? null) as string | null
        yield { ...feature, id, values: feature.values.map(inForm).filter(isShown) }
      }
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
