import { z } from 'zod'
import { asListedSchema } from '../common.js'
import { type CodedMessage, coded, type SentenceCode, saidOf, textOf, textOfAll } from '../messages.js'
import { intentOf } from './intent.js'
import { nearest } from './nearest.js'
import { fieldsAt, schemasAt } from './schema-fields.js'
import { shownValue } from './shown-value.js'

type Issue = z.core.$ZodIssue

/** Maximum number of named problems. Input with more of them is wrong as a whole. */
const MAX_PROBLEMS = 5
/** Maximum number of listed names if none is similar. */
const MAX_KNOWN = 20
/** Marker in place of zod's own messages, which distinguishes them from those of schemas. */
const ZODS = ''

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly CodedMessage[]; readonly message: string }

/**
 * Checks input against a schema. Each problem is reported by field: the rule, the received value (bounded and without secrets), and the probable
 * intent. Problems come in the order of the schema's fields, with unknown fields last.
 * @param place `body`, `query`, `path` or `header`, as prefix of each field's name
 */
export function checkInput<T extends z.core.$ZodType>(schema: T, input: unknown, place: string): Checked<z.output<T>> {
  const { safeParse } = schema as unknown as z.ZodType<z.output<T>>
  const result = safeParse(input, { error: () => ZODS })
  if (result.success) return { ok: true, value: result.data }
  const problems = problemsOf(result.error.issues, schema, input, place)
  return { ok: false, problems, message: textOfAll(problems) }
}

function problemsOf(issues: readonly Issue[], schema: z.core.$ZodType, input: unknown, place: string): CodedMessage[] {
  const each = issues
    .flatMap((issue) => ofClosestForm(issue, input))
    .flatMap((issue) => (issue.code === 'unrecognized_keys' ? oneByOne(issue) : [issue]))
  const named = each.slice(0, MAX_PROBLEMS).flatMap((issue) => problemOf(issue, schema, input, place))
  return each.length > MAX_PROBLEMS ? [...named, coded('input.more', { count: each.length - MAX_PROBLEMS })] : named
}

function oneByOne(issue: Extract<Issue, { code: 'unrecognized_keys' }>): Issue[] {
  return issue.keys.map((key) => ({ ...issue, keys: [key] }))
}

/** Returns the issues of that form of an object which has the fewest; other issues unchanged. */
function ofClosestForm(issue: Issue, input: unknown): Issue[] {
  if (issue.code !== 'invalid_union' || issue.message !== ZODS) return [issue]
  const value = valueAt(input, issue.path)
  if (typeof value !== 'object' || value === null) return [issue]
  const forms = issue.errors.filter(([first]) => first?.code !== 'invalid_type' || first.path.length > 0)
  const [closest] = forms.toSorted((a, b) => a.length - b.length)
  if (closest === undefined) return [issue]
  return closest.map((one) => ({ ...one, path: [...issue.path, ...one.path] }) as Issue)
}

function problemOf(issue: Issue, schema: z.core.$ZodType, input: unknown, place: string): CodedMessage[] {
  if (issue.code === 'unrecognized_keys') return unknownField(issue, schema, place)
  const field = fieldName(place, issue.path)
  const value = valueAt(input, issue.path)
  const isInt = schemasAt(schema, issue.path).some((one) => one instanceof z.ZodNumber && one.isInt)
  const rule = ruleOf(issue, { field, isInt })
  if (value === undefined && issue.path.length > 0) return [coded('input.required', { field }), ...allowedOf(rule)]
  const name = String(issue.path.findLast((step) => typeof step === 'string') ?? '')
  const list = valueAt(input, issue.path.slice(0, -1))
  const intent = intentOf(issue, { field: name, value, list })
  return [rule, ...receivedOf(issue, value, name), ...(intent === null ? [] : [intent])]
}

function fieldName(place: string, path: readonly PropertyKey[]): string {
  return [place, ...path.map((step) => shortened(String(step)))].join('.')
}

/** Shortens a name of the caller, which may have any length. */
function shortened(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`
}

function unknownField(
  { path, keys: [key = ''] }: Extract<Issue, { code: 'unrecognized_keys' }>,
  schema: z.core.$ZodType,
  place: string,
): CodedMessage[] {
  const field = fieldName(place, [...path, key])
  const known = Object.entries(fieldsAt(schema, path)).flatMap(([name, field]) =>
    field === asListedSchema ? [] : [name],
  )
  if (known.includes(key)) return [coded('input.other_form', { field })]
  const near = nearest(key, known)
  const unknown = coded(place === 'query' ? 'input.unknown_parameter' : 'input.unknown_field', { field })
  if (near !== null) return [unknown, coded('input.did_you_mean', { value: near })]
  return known.length === 0 || known.length > MAX_KNOWN
    ? [unknown]
    : [unknown, coded('input.known', { names: known.join(', ') })]
}

/** Returns the allowed values of a missing field, if they are few. */
function allowedOf({ code, params }: CodedMessage): CodedMessage[] {
  return code === 'input.one_of' ? [coded('input.known', { names: String(params.values) })] : []
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value
}

function receivedOf(issue: Issue, value: unknown, name: string): CodedMessage[] {
  if (issue.code === 'too_big' || issue.code === 'too_small') {
    if (issue.origin === 'string' && typeof value === 'string')
      return value === '' ? [] : [coded('input.received_length', { count: value.length })]
    if (Array.isArray(value)) return [coded('input.received_entries', { count: value.length })]
  }
  // A rule about several fields names them itself.
  if (issue.code === 'custom' && typeof value === 'object' && !Array.isArray(value)) return []
  const shown = shownValue(value, name)
  return shown === null ? [] : [coded('input.received', { value: shown })]
}

/** The subject of a rule. `isInt`: only whole numbers are valid. */
interface Subject {
  readonly field: string
  readonly isInt: boolean
}

function ruleOf(issue: Issue, subject: Subject): CodedMessage {
  const { field, isInt } = subject
  if (issue.message !== ZODS) return saidOf(field, issue.message)
  switch (issue.code) {
    case 'invalid_type':
      return typeRule(isInt && issue.expected === 'number' ? 'int' : issue.expected, field)
    case 'invalid_value':
      return coded(issue.values.length === 1 ? 'input.exactly' : 'input.one_of', {
        field,
        values: listed(issue.values),
      })
    case 'too_small':
      return limitRule(issue.origin, Number(issue.minimum), field, issue.inclusive !== false ? 'at_least' : 'above')
    case 'too_big':
      return limitRule(issue.origin, Number(issue.maximum), field, issue.inclusive !== false ? 'at_most' : 'below')
    case 'invalid_format':
      return formatRule(issue.format, field)
    case 'invalid_union':
      return unionRule(issue, subject)
    default:
      return coded('input.type', { field, expected: issue.code })
  }
}

function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ')
}

const TYPES = ['string', 'number', 'int', 'boolean', 'array', 'object'] as const

function typeRule(expected: string, field: string): CodedMessage {
  const known = TYPES.find((type) => type === (expected === 'tuple' ? 'array' : expected))
  return known === undefined ? coded('input.type', { field, expected }) : coded(`input.${known}`, { field })
}

type Bound = 'at_least' | 'above' | 'at_most' | 'below'

function limitRule(origin: string, limit: number, field: string, bound: Bound): CodedMessage {
  const isMin = bound === 'at_least' || bound === 'above'
  if (origin === 'string') {
    if (isMin && limit === 1) return coded('input.not_empty', { field })
    return coded(isMin ? 'input.min_length' : 'input.max_length', { field, limit })
  }
  if (origin === 'array' || origin === 'set') {
    return coded(isMin ? 'input.min_entries' : 'input.max_entries', { field, limit })
  }
  return coded(`input.${bound}`, { field, limit })
}

const FORMATS: Readonly<Record<string, CodedMessage['code']>> = {
  url: 'input.url',
  uuid: 'input.uuid',
  datetime: 'input.instant',
  date: 'input.instant',
}

function formatRule(format: string, field: string): CodedMessage {
  const code = FORMATS[format]
  return code === undefined ? coded('input.format', { field, format }) : coded(code, { field })
}

/** Describes alternatives: each in the form for a single field. */
function unionRule(issue: Extract<Issue, { code: 'invalid_union' }>, subject: Subject): CodedMessage {
  const { field } = subject
  const rules = issue.errors.map(([first]) => (first === undefined ? null : ruleOf(first as Issue, subject)))
  const types = rules.filter((rule) => rule !== null)
  const [only] = types
  if (types.length === 1 && only !== undefined) return only
  return coded('input.either', { field, forms: [...new Set(types.map((rule) => formOf(rule, field)))].join('; ') })
}

const FORMS: Readonly<Partial<Record<CodedMessage['code'], SentenceCode>>> = {
  'input.string': 'said.a_text',
  'input.number': 'said.a_number',
  'input.int': 'said.a_whole_number',
}

/** Returns one alternative of `input.either`: the code of a clause, or text that is the same in every language. */
function formOf(rule: CodedMessage, field: string): string {
  const code = rule.code === 'input.said' ? String(rule.params.sentence) : FORMS[rule.code]
  if (code !== undefined) return code
  const text = textOf(rule)
  const prefix = `${field}: must be `
  return text.startsWith(prefix) ? text.slice(prefix.length) : text.slice(field.length + 2)
}
