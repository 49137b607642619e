import { isObject, type StyleJson } from '@gateway/styles/style-json.js'

/** A layer of a style, as far as a form reads it. */
export type EditedLayer = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

/** The meaning of a field, which names it: the style specification has a separate property for each type of layer. */
export type Role =
  | 'colour'
  | 'opacity'
  | 'width'
  | 'radius'
  | 'outline'
  | 'outlineWidth'
  | 'label'
  | 'size'
  | 'halo'
  | 'haloWidth'

export interface Field {
  readonly role: Role
  readonly section: 'paint' | 'layout'
  readonly property: string
}

const paint = (role: Role, property: string): Field => ({ role, section: 'paint', property })
const layout = (role: Role, property: string): Field => ({ role, section: 'layout', property })

/** The fields of the simple case. Everything else is edited as JSON, or in Maputnik. */
const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  background: [paint('colour', 'background-color'), paint('opacity', 'background-opacity')],
  fill: [paint('colour', 'fill-color'), paint('opacity', 'fill-opacity'), paint('outline', 'fill-outline-color')],
  line: [paint('colour', 'line-color'), paint('width', 'line-width'), paint('opacity', 'line-opacity')],
  circle: [
    paint('colour', 'circle-color'),
    paint('radius', 'circle-radius'),
    paint('opacity', 'circle-opacity'),
    paint('outline', 'circle-stroke-color'),
    paint('outlineWidth', 'circle-stroke-width'),
  ],
  symbol: [
    layout('label', 'text-field'),
    paint('colour', 'text-color'),
    layout('size', 'text-size'),
    paint('opacity', 'text-opacity'),
    paint('halo', 'text-halo-color'),
    paint('haloWidth', 'text-halo-width'),
  ],
  'fill-extrusion': [paint('colour', 'fill-extrusion-color'), paint('opacity', 'fill-extrusion-opacity')],
  heatmap: [paint('radius', 'heatmap-radius'), paint('opacity', 'heatmap-opacity')],
  raster: [paint('opacity', 'raster-opacity')],
}

export const fieldsOf = ({ type }: EditedLayer): readonly Field[] => FIELDS[type] ?? []

/** Returns the layers in the order of drawing, the lowest first. Parts that are no layers are left out. */
export function layersIn(style: StyleJson): readonly EditedLayer[] {
  return (Array.isArray(style.layers) ? style.layers : []).filter(
    (layer): layer is EditedLayer => isObject(layer) && typeof layer.id === 'string' && typeof layer.type === 'string',
  )
}

export function fieldValue(layer: EditedLayer, { section, property }: Field): unknown {
  const values = layer[section]
  return isObject(values) ? values[property] : undefined
}

/** Replaces a layer. Parts that are no layers stay where they are. */
function withLayer(style: StyleJson, id: string, change: (layer: EditedLayer) => EditedLayer): StyleJson {
  const layers = style.layers as readonly unknown[]
  return { ...style, layers: layers.map((one) => (isObject(one) && one.id === id ? change(one as EditedLayer) : one)) }
}

/** @param value undefined: the property is removed, and the specification's default applies */
export function withValue(style: StyleJson, id: string, { section, property }: Field, value: unknown): StyleJson {
  return withLayer(style, id, (layer) => {
    const { [property]: _, ...others } = (isObject(layer[section]) ? layer[section] : {}) as Record<string, unknown>
    const values = value === undefined ? others : { ...(layer[section] as object | undefined), [property]: value }
    return withMember(layer, section, Object.keys(values).length === 0 ? undefined : values)
  })
}

export function withZoom(style: StyleJson, id: string, name: 'minzoom' | 'maxzoom', value: number | undefined) {
  return withLayer(style, id, (layer) => withMember(layer, name, value))
}

const VISIBILITY = layout('opacity', 'visibility')

export const isDrawn = (layer: EditedLayer): boolean => fieldValue(layer, VISIBILITY) !== 'none'

export function withDrawn(style: StyleJson, id: string, drawn: boolean): StyleJson {
  return withValue(style, id, VISIBILITY, drawn ? undefined : 'none')
}

function withMember(layer: EditedLayer, name: string, value: unknown): EditedLayer {
  if (value !== undefined) return { ...layer, [name]: value }
  const { [name]: _, ...rest } = layer
  return rest as EditedLayer
}

/** Moves a layer by one place. @param by 1: up, over the next one; -1: down */
export function withMoved(style: StyleJson, id: string, by: 1 | -1): StyleJson {
  const layers = style.layers as readonly unknown[]
  const from = layers.findIndex((one) => isObject(one) && one.id === id)
  const to = from + by
  if (from < 0 || to < 0 || to >= layers.length) return style
  return { ...style, layers: layers.toSpliced(from, 1).toSpliced(to, 0, layers[from]) }
}

/** Returns the attribute that labels show; null: a rule that is more than one attribute. */
export function labelFieldOf(value: unknown): string | null {
  if (typeof value === 'string') return /^\{([^{}]*)\}$/.exec(value)?.[1] ?? null
  if (!Array.isArray(value)) return null
  const [operator, first, ...rest] = value as readonly unknown[]
  if (operator === 'get' && typeof first === 'string' && rest.length === 0) return first
  if (operator === 'to-string' && rest.length === 0) return labelFieldOf(first)
  return operator === 'coalesce' && rest.length === 1 && rest[0] === '' ? labelFieldOf(first) : null
}

/** Returns the rule that shows an attribute of any type, and nothing for a feature without it. */
export const labelOf = (field: string): unknown => ['to-string', ['get', field]]

/** Returns the text of a document, as it is edited and stored. */
export const textOfStyle = (style: StyleJson): string => `${JSON.stringify(style, null, 2)}\n`
