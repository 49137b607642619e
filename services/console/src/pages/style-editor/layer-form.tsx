import { parseGatewayAddress, type StyleJson } from '@gateway/styles/style-json.js'
import { Autocomplete, Checkbox, NumberInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { vectorQuery } from '../../api/catalog.js'
import {
  type EditedLayer,
  type Field,
  fieldsOf,
  fieldValue,
  isDrawn,
  labelFieldOf,
  labelOf,
  withDrawn,
  withValue,
  withZoom,
} from './style-edits.js'
import { useEditorTexts } from './use-editor-texts.js'

/** The deepest zoom of the style specification. */
const MAX_ZOOM = 24
/** Characters of a rule that a field shows. */
const MAX_RULE = 120

interface LayerFormProps {
  readonly style: StyleJson
  readonly layer: EditedLayer
  readonly onChange: (style: StyleJson) => void
}

/** The simple properties of a layer. A field shows the rule that computes its property, and replaces the rule when something is entered. */
export function LayerForm({ style, layer, onChange }: LayerFormProps) {
  const t = useEditorTexts()
  const attributes = useAttributes(style, layer)
  const fields = fieldsOf(layer)
  const zoom = (name: 'minzoom' | 'maxzoom') => (
    <NumberInput
      label={t[name]}
      min={0}
      max={MAX_ZOOM}
      placeholder={name === 'minzoom' ? '0' : String(MAX_ZOOM)}
      value={typeof layer[name] === 'number' ? layer[name] : ''}
      onChange={(value) => onChange(withZoom(style, layer.id, name, typeof value === 'number' ? value : undefined))}
    />
  )
  return (
    <Stack gap="sm">
      {fields.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.noFields(layer.type)}
        </Text>
      )}
      {fields.map((field) => (
        <FieldInput
          key={field.property}
          field={field}
          value={fieldValue(layer, field)}
          attributes={attributes}
          onChange={(value) => onChange(withValue(style, layer.id, field, value))}
        />
      ))}
      <SimpleGrid cols={2} spacing="xs">
        {zoom('minzoom')}
        {zoom('maxzoom')}
      </SimpleGrid>
      <Checkbox
        label={t.drawn}
        checked={isDrawn(layer)}
        onChange={(event) => onChange(withDrawn(style, layer.id, event.currentTarget.checked))}
      />
    </Stack>
  )
}

interface FieldInputProps {
  readonly field: Field
  readonly value: unknown
  readonly attributes: readonly string[]
  /** undefined: the property is removed */
  readonly onChange: (value: unknown) => void
}

function FieldInput({ field: { role }, value, attributes, onChange }: FieldInputProps) {
  const t = useEditorTexts()
  const label = t.fields[role]
  const isRule = role === 'label' ? value !== undefined && labelFieldOf(value) === null : typeof value === 'object'
  const common = {
    label,
    placeholder: isRule ? t.byRule : t.byDefault,
    ...(isRule && { description: <bdi className="mono">{JSON.stringify(value).slice(0, MAX_RULE)}</bdi> }),
  }
  if (role === 'label')
    return (
      <Autocomplete
        {...common}
        data={[...attributes]}
        autoComplete="off"
        value={labelFieldOf(value) ?? ''}
        onChange={(text) => onChange(text === '' ? undefined : labelOf(text))}
      />
    )
  if (isColour(role))
    return (
      <TextInput
        {...common}
        spellCheck={false}
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
        rightSection={
          <input
            type="color"
            className="colour-well"
            aria-label={t.choose(label)}
            value={hexOf(value)}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        }
      />
    )
  const isShare = role === 'opacity'
  return (
    <NumberInput
      {...common}
      min={0}
      {...(isShare && { max: 1 })}
      step={isShare ? 0.1 : 0.5}
      value={typeof value === 'number' ? value : ''}
      onChange={(entered) => onChange(typeof entered === 'number' ? entered : undefined)}
    />
  )
}

const isColour = (role: Field['role']): boolean => role === 'colour' || role === 'outline' || role === 'halo'

/** Returns a colour in the only form that the field of the browser takes; it has no transparency. */
function hexOf(value: unknown): string {
  if (typeof value !== 'string') return '#000000'
  const drawing = document.createElement('canvas').getContext('2d')
  if (drawing === null) return '#000000'
  drawing.fillStyle = value
  const [, r = '', g = '', b = ''] = /^rgba\((\d+), (\d+), (\d+)/.exec(drawing.fillStyle) ?? []
  if (r === '') return drawing.fillStyle
  return `#${[r, g, b].map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`
}

/** The attributes of the vector that a layer draws, if this gateway has it. */
function useAttributes({ sources }: StyleJson, { source }: EditedLayer): readonly string[] {
  const named = (sources as Readonly<Record<string, unknown>> | undefined)?.[String(source)]
  const { url, data } = (named ?? {}) as { url?: unknown; data?: unknown }
  const address = parseGatewayAddress(String(url ?? data))
  const code = address?.kind === 'vector' ? address.code : ''
  const { data: vector } = useQuery({ ...vectorQuery(code), enabled: code !== '' })
  return (vector?.fields ?? []).map(({ name }) => name)
}
