/**
 * A sentence of the service as a code and what differs in it. The service writes it in English by `TOLD_TEXTS`; the console has the same codes in
 * other languages.
 */
export interface Told {
  readonly code: ToldCode
  readonly params: Readonly<Record<string, string | number>>
}

/** English texts by code. `{name}` stands for the parameter of that name; both are stable, the words around them are not. */
export const TOLD_TEXTS = {
  // A field of a request, `{field}` with its place: body.kind, query.limit.
  'input.unknown_field': '{field}: unknown field',
  'input.unknown_parameter': '{field}: unknown parameter',
  'input.no_body': '{field}: unknown field, since this request takes no fields',
  'input.required': '{field}: is required',
  'input.string': '{field}: must be a text',
  'input.number': '{field}: must be a number',
  'input.int': '{field}: must be a whole number',
  'input.boolean': '{field}: must be true or false',
  'input.array': '{field}: must be a list',
  'input.object': '{field}: must be an object',
  'input.type': '{field}: must be of type {expected}',
  'input.one_of': '{field}: must be one of {values}',
  'input.exactly': '{field}: must be {values}',
  'input.either': '{field}: must be one of these: {forms}',
  'input.at_least': '{field}: must be at least {limit}',
  'input.above': '{field}: must be above {limit}',
  'input.at_most': '{field}: must be at most {limit}',
  'input.below': '{field}: must be below {limit}',
  'input.not_empty': '{field}: must not be empty',
  'input.min_length': '{field}: must have at least {limit} characters',
  'input.max_length': '{field}: must have at most {limit} characters',
  'input.min_entries': '{field}: must have at least {limit} entries',
  'input.max_entries': '{field}: must have at most {limit} entries',
  'input.url': '{field}: must be a URL',
  'input.uuid': '{field}: must be a UUID',
  'input.instant': '{field}: must be an ISO 8601 date or date-time',
  'input.format': '{field}: must have the form {format}',
  'input.said': '{field}: {sentence}',
  'input.more': '{count} more problems',
  // What was sent, and what was probably meant.
  'input.received': 'received {value}',
  'input.received_length': 'received {count} characters',
  'input.received_entries': 'received {count} entries',
  'input.did_you_mean': 'did you mean {value}?',
  'input.known': 'known are {names}',
  'input.bounds_swapped': 'did you mean {value}? The order is west, south, east, north, longitudes before latitudes',
  'input.as_json': 'the text is JSON itself: send it without the quotes around it',
  // A body that is no JSON.
  'json.found': 'the body is not valid JSON: line {line}, column {column}: found {found}, where {expected} should be',
  'json.ends': 'the body is not valid JSON: it ends at line {line}, column {column}, where {expected} should be',
  'json.encoding': 'the body is not valid JSON: it is not UTF-8 from byte {byte} on',
  'json.forbidden_name': 'the body has a field __proto__ or constructor.prototype, which is not taken',
  'json.single_quotes': 'texts and names take double quotes',
  'json.trailing_comma': 'no comma may stand before a closing bracket',
  'json.unquoted_name': 'names take double quotes',
  'json.comment': 'JSON has no comments',
  'json.literal': 'of words JSON knows true, false and null only',
  'json.number': 'a number has no leading zero, plus sign or leading point',
  'json.control': 'a line break or tab in a text is written as \\n or \\t',
  'json.form': 'this is the body of an HTML form: send JSON, such as {example}',
  // Credentials of administration.
  'admin.service_token':
    'this is a service token ({prefix}…), which opens tiles, vectors, the catalog and slicing: admin routes need the admin token (ADMIN_TOKEN) or a sign-in',
  'admin.no_scheme': 'Authorization has no scheme: send {form}',
  'admin.wrong_place': 'admin credentials are required: {place} is read for service tokens only',
  'admin.send': 'send {form}',
} as const
export type ToldCode = keyof typeof TOLD_TEXTS

export function told(code: ToldCode, params: Told['params'] = {}): Told {
  return { code, params }
}

/** The English sentence. */
export function textOf(sentence: Told): string {
  return filled(TOLD_TEXTS[sentence.code], sentence.params)
}

/** Several sentences, in their order. */
export function textOfAll(sentences: readonly Told[]): string {
  return sentences.map(textOf).join('; ')
}

function filled(template: string, params: Told['params']): string {
  return template.replace(/\{(\w+)\}/g, (gap, name: string) => String(params[name] ?? gap))
}
