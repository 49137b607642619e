import type { Refusal } from '@gateway/contracts/errors.js'
import { sentence } from '@gateway/contracts/messages.js'
import type { NewChange } from '@gateway/store/change-log.js'
import { z } from 'zod'

/** The entries for the change log of a change of the catalog, or the refusal. */
export type CatalogChange = { readonly ok: true; readonly changes: readonly NewChange[] } | Refusal

/** Sentence for the descriptions of routes that respond after the edges have followed. */
export const CONFIRMED =
  'Answers once every live edge process has followed, at the latest after TOKEN_STALE_SECONDS; `confirmed` and `pending` name those that ' +
  'have and have not, as where a token is disabled.'

export const WITHDRAWN =
  'What is withdrawn is at once neither served nor listed for readers (404), whatever scans find, until it is restored; health checks skip it.'

// Postgres cannot store NUL, so no code contains it.
const code = z.string().regex(/^[^\0]*$/, sentence('said.no_nul'))
export const byCode = z.object({ code })
export const byVersion = z.object({ code, version: code })
