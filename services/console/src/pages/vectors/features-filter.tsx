import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import IconFilter from '~icons/filter'
import IconPlus from '~icons/plus'
import IconX from '~icons/x'
import type { Attribute, AttributeType } from '../../api/features.js'
import { useTexts } from '../../texts/texts.js'
import { yesOrNo } from '../../ui/use-catalog-filters.js'
import { useTyped } from '../../ui/use-typed.js'
import { canBeNamed, condition, type Operator, operatorsOf, takesValue, withCondition } from './cql2.js'

interface FeaturesFilterProps {
  readonly attributes: readonly Attribute[]
  /** CQL2 text */
  readonly filter: string
  readonly onFilter: (filter: string) => void
}

/** Conditions on attributes, put together as CQL2 text, which can be written by hand too. */
export function FeaturesFilter({ attributes, filter, onFilter }: FeaturesFilterProps) {
  const t = useTexts()
  const { text, type, take } = useTyped(filter, onFilter, null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    take()
  }
  return (
    <Stack gap="xs">
      <NewCondition
        attributes={attributes.filter(canBeNamed)}
        onAdd={(more) => onFilter(withCondition(filter, more))}
      />
      <form onSubmit={submit}>
        <Group gap="xs" align="flex-end">
          <TextInput
            label={t.vectors.filter}
            placeholder={t.vectors.filterHint}
            value={text}
            onChange={(event) => type(event.currentTarget.value)}
            classNames={{ input: 'mono' }}
            spellCheck={false}
            autoComplete="off"
            flex="1 1 18rem"
          />
          <Button type="submit" variant="default" leftSection={<IconFilter size={16} />}>
            {t.vectors.applyFilter}
          </Button>
          <Button
            variant="subtle"
            disabled={filter === ''}
            leftSection={<IconX size={16} />}
            onClick={() => onFilter('')}
          >
            {t.vectors.clearFilter}
          </Button>
        </Group>
      </form>
    </Stack>
  )
}

const INPUTS: Readonly<Partial<Record<AttributeType, string>>> = {
  number: 'number',
  date: 'date',
  datetime: 'datetime-local',
}

function NewCondition({ attributes, onAdd }: { attributes: readonly Attribute[]; onAdd: (text: string) => void }) {
  const t = useTexts().vectors
  const texts = useTexts()
  const [name, setName] = useState('')
  const [wanted, setOperator] = useState<Operator>('contains')
  const [value, setValue] = useState('')
  // Users most often look for a name first.
  const first = attributes.find(({ type }) => type === 'string') ?? attributes[0]
  const attribute = attributes.find((one) => one.name === name) ?? first
  if (attribute === undefined) return null
  const operators = operatorsOf(attribute.type)
  const operator = operators.includes(wanted) ? wanted : (operators[0] as Operator)
  const given = attribute.type === 'boolean' && value === '' ? 'true' : value
  const made = condition(attribute, operator, given)
  const add = (event: FormEvent) => {
    event.preventDefault()
    if (made === null) return
    onAdd(made)
    setValue('')
  }
  const common = { label: t.value, value: given, disabled: !takesValue(operator), flex: '1 1 9rem' }
  return (
    <form onSubmit={add}>
      <Group gap="xs" align="flex-end">
        <NativeSelect
          label={t.attribute}
          value={attribute.name}
          data={attributes.map((one) => one.name)}
          onChange={(event) => {
            setName(event.currentTarget.value)
            setValue('')
          }}
          flex="1 1 9rem"
        />
        <NativeSelect
          label={t.operator}
          value={operator}
          data={operators.map((one) => ({ value: one, label: t.operators[one] }))}
          onChange={(event) => setOperator(event.currentTarget.value as Operator)}
          flex="1 1 9rem"
        />
        {attribute.type === 'boolean' ? (
          <NativeSelect
            {...common}
            data={yesOrNo(texts).map(([value, label]) => ({ value, label }))}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
        ) : (
          <TextInput
            {...common}
            type={INPUTS[attribute.type] ?? 'text'}
            {...(attribute.type === 'number' && { step: 'any' })}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
        )}
        <Button type="submit" disabled={made === null} leftSection={<IconPlus size={16} />}>
          {t.addCondition}
        </Button>
      </Group>
    </form>
  )
}
