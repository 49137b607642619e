import type { Refusal } from '@gateway/contracts/errors.js'
import { sentence } from '@gateway/contracts/messages.js'
import type { NewChange } from '@gateway/store/change-log.js'
import { z } from 'zod'

/** The entries for the change log of a change of the catalog, or the refusal. */
export type CatalogChange = { readonly ok: true; readonly changes: readonly NewChange[] } | Refusal

/** Sentence for the descriptions of routes that respond after the edges have followed. */
export const CONFIRMED =
  'The response comes when every live edge process has applied the change, at the latest after TOKEN_STALE_SECONDS. `confirmed` and `pending` ' +
  'name the processes that have and have not applied it.'

export const WITHDRAWN =
  'A withdrawn item is immediately neither served nor listed for readers (404), whatever scans find, until it is restored. Health checks skip ' +
  'it.'

// Postgres cannot store NUL, so no code contains it.
const code = z.string().regex(/^[^\0]*$/, sentence('said.no_nul'))
export const byCode = z.object({ code })
export const byVersion = z.object({ code, version: code })
