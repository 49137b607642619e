import type { Attribute, AttributeType } from '../../api/features.js'

export const OPERATORS = [
  'contains',
  'starts',
  'equal',
  'unequal',
  'less',
  'atMost',
  'more',
  'atLeast',
  'missing',
  'present',
] as const
export type Operator = (typeof OPERATORS)[number]

const SIGNS: Readonly<Partial<Record<Operator, string>>> = {
  equal: '=',
  unequal: '<>',
  less: '<',
  atMost: '<=',
  more: '>',
  atLeast: '>=',
}
const OF_TEXT: readonly Operator[] = ['contains', 'starts', 'equal', 'unequal', 'missing', 'present']
const OF_ORDER: readonly Operator[] = ['equal', 'unequal', 'less', 'atMost', 'more', 'atLeast', 'missing', 'present']

/** Returns the operators that can compare an attribute of this type. */
export function operatorsOf(type: AttributeType): readonly Operator[] {
  if (type === 'string') return OF_TEXT
  if (type === 'boolean') return ['equal', 'missing', 'present']
  return type === 'other' ? ['missing', 'present'] : OF_ORDER
}

export function takesValue(operator: Operator): boolean {
  return operator !== 'missing' && operator !== 'present'
}

/** A quoted name ends at the next quote: CQL2 text cannot name an attribute with one in it. */
export function canBeNamed({ name }: Attribute): boolean {
  return !name.includes('"')
}

/** A comparison as CQL2 text; null if the value is not one of the attribute's type. */
export function condition({ name, type }: Attribute, operator: Operator, value: string): string | null {
  const property = `"${name}"`
  if (operator === 'missing') return `${property} IS NULL`
  if (operator === 'present') return `${property} IS NOT NULL`
  if (operator === 'contains' || operator === 'starts') {
    const pattern = value.replace(/[\\%_]/g, '\\$&')
    return `CASEI(${property}) LIKE CASEI(${text(`${operator === 'contains' ? '%' : ''}${pattern}%`)})`
  }
  const literal = literalOf(type, value)
  return literal === null ? null : `${property} ${SIGNS[operator]} ${literal}`
}

/** Returns the filter with one more condition. The previous filter stays one operand. */
export function withCondition(filter: string, more: string): string {
  if (filter.trim() === '') return more
  return `${/\bOR\b/i.test(filter) ? `(${filter})` : filter} AND ${more}`
}

function literalOf(type: AttributeType, value: string): string | null {
  switch (type) {
    case 'number':
      return value.trim() !== '' && Number.isFinite(Number(value)) ? String(Number(value)) : null
    case 'boolean':
      return value === 'true' || value === 'false' ? value.toUpperCase() : null
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(value) ? `DATE('${value}')` : null
    case 'datetime':
      return Number.isNaN(Date.parse(value)) ? null : `TIMESTAMP('${new Date(value).toISOString()}')`
    default:
      return text(value)
  }
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}
