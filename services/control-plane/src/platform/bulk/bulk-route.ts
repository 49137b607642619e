import { acknowledgementFields, bulkResultSchema } from '@gateway/contracts/edge.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded, sentence } from '@gateway/contracts/messages.js'
import { type Warning, withWarnings } from '@gateway/contracts/warning.js'
import { text } from '@gateway/store/catalog/list-query.js'
import type { Keys } from '@gateway/store/listing.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import { confirmState } from '../edges/commit.js'
import type { KnownEdges } from '../edges/known-edges.js'
import type { AdminIdentity, App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { type ItemChange, runBulk } from './run-bulk.js'

/** Maximum number of items in one call. At some milliseconds for each, the call ends within a minute. */
const MAX_BULK_ITEMS = 10_000

/** Number of items in one transaction, so that it takes a fraction of a second, and holds the revision counter for even less. */
const BATCH = 100

/** Fields of a list's query that select the visible page instead of the matching items. */
const OF_A_PAGE = { sort: true, limit: true, offset: true } as const

/** The query schema of a list, as built by `listQuery`. */
export type ListQuery = z.ZodObject<Record<'sort' | 'limit' | 'offset', z.ZodType>>

/** The parameters of a resource's actions. Without them, `params` is an unknown field. */
interface Parameters<Action extends string> {
  readonly schema: z.ZodObject
  /** by action; an action with parameters needs at least one of them */
  readonly of: Readonly<Record<Action, readonly string[]>>
}

interface BulkRequest<Action> {
  readonly action: Action
  readonly params: Readonly<Record<string, unknown>>
  readonly admin: AdminIdentity
}

export interface BulkResource<Action extends string> {
  /** below /api/v1/admin/ */
  readonly path: string
  readonly operationId: string
  /** plural noun for the API document */
  readonly noun: string
  /** description of each action for the API document */
  readonly actions: Readonly<Record<Action, string>>
  readonly params?: Parameters<Action>
  readonly query: ListQuery
  /** finds the keys that a filter matches, at most `most` */
  readonly find: (filter: Readonly<Record<string, unknown>>, most: number) => Promise<Keys>
  readonly change: (request: BulkRequest<Action>) => ItemChange
  readonly warnings?: (request: BulkRequest<Action>) => Promise<Warning[]>
  /** edges that cache such items, and must confirm; undefined: none do */
  readonly edges?: KnownEdges
  /** default: 100 */
  readonly batchSize?: number
}

/** Registers a route for one action on many items of a list, selected by their ids or by a filter of that list. */
export function bulkRoute<Action extends string>(app: App, ctx: ControlContext, resource: BulkResource<Action>): void {
  const { path, operationId, noun, find, change, warnings, edges, batchSize = BATCH } = resource
  app.post(
    `/api/v1/admin/${path}/bulk`,
    {
      config: { mayTakeLong: true, ifUnknown: 'bulk_again' },
      schema: {
        operationId,
        summary: `Change many ${noun} in one call`,
        description: descriptionOf(resource),
        body: bodyOf(resource),
        response: { 200: edges === undefined ? bulkResultSchema : bulkResultSchema.extend(acknowledgementFields) },
      },
    },
    async ({ body, admin }, reply) => {
      const { action, ids, filter, params = {} } = body as Body<Action>
      const chosen = ids === undefined ? await matching(find, filter ?? {}) : [...new Set(ids)]
      if ('ok' in chosen) return sendRefusal(reply, chosen)
      const request = { action, params, admin }
      const { failed, state } = await runBulk(ctx, chosen.toSorted(), change(request), batchSize)
      const done = chosen.length - failed.length
      const result = withWarnings({ matched: chosen.length, done, failed }, (await warnings?.(request)) ?? [])
      if (edges === undefined) return result
      return { ...result, ...(done === 0 ? NOBODY : await confirmState(ctx, edges, state)) }
    },
  )
}

const NOBODY = { confirmed: [], pending: [] }

interface Body<Action> {
  readonly action: Action
  readonly ids?: string[]
  readonly filter?: Record<string, unknown>
  readonly params?: Record<string, unknown>
}

async function matching(
  find: BulkResource<string>['find'],
  filter: Readonly<Record<string, unknown>>,
): Promise<readonly string[] | Refusal> {
  const { keys, total } = await find(filter, MAX_BULK_ITEMS)
  if (total <= MAX_BULK_ITEMS) return keys
  return refuse('invalid_parameters', coded('bulk_too_many', { count: total, limit: MAX_BULK_ITEMS }))
}

function bodyOf<Action extends string>({ actions, params, query }: BulkResource<Action>) {
  const names = Object.keys(actions) as [Action, ...Action[]]
  const body = z.strictObject({
    action: z.enum(names),
    ids: z
      .array(text.min(1))
      .min(1)
      .max(MAX_BULK_ITEMS)
      .optional()
      .describe('the items by `id`, or by `code` if they have one; without `filter`'),
    filter: query
      .omit(OF_A_PAGE)
      .optional()
      .describe('the query parameters of the list that select its items, in the same form; `{}`: all items'),
    ...(params !== undefined && { params: params.schema.optional() }),
  })
  return body.superRefine((given, context) => {
    if ((given.ids === undefined) === (given.filter === undefined)) {
      context.addIssue({ code: 'custom', message: sentence('said.ids_or_filter') })
    }
    if (params === undefined) return
    for (const issue of misplaced(given as Body<Action>, params)) context.addIssue({ code: 'custom', ...issue })
  })
}

function misplaced<Action extends string>({ action, params = {} }: Body<Action>, { of }: Parameters<Action>) {
  const taken = of[action]
  const given = Object.keys(params).filter((name) => params[name] !== undefined)
  const others = given.filter((name) => !taken.includes(name))
  const issues = others.map((name) => ({ path: ['params', name], message: `is not a parameter of ${action}` }))
  const isMissing = taken.length > 0 && given.length === others.length
  // The path contains the name of a single parameter. For several, the message names the choice.
  const missing = {
    path: taken.length === 1 ? ['params', ...taken] : ['params'],
    message: `${action} needs ${taken.join(' or ')}`,
  }
  return isMissing ? [...issues, missing] : issues
}

function descriptionOf({ actions, edges }: Pick<BulkResource<string>, 'actions' | 'edges'>): string {
  const listed = Object.entries(actions).map(([name, does]) => `\`${name}\` ${does}.`)
  const confirmed =
    'The response comes when every edge process has applied all changes, at the latest after TOKEN_STALE_SECONDS. `confirmed` and `pending` ' +
    'name the processes that have and have not applied them.'
  return [
    ...listed,
    `The call takes at most ${MAX_BULK_ITEMS} items, by \`ids\` or by \`filter\`; a filter that matches more returns 400 and changes nothing.`,
    'Every item is changed as by its own route, with one audit entry each. `failed` lists the items that cannot be changed; all others are ' +
      'changed.',
    'Changes are committed in batches. If the store fails, earlier batches stay, and the same call can be repeated.',
    ...(edges === undefined ? [] : [confirmed]),
  ].join(' ')
}
