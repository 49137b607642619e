import { stat, writeFile } from 'node:fs/promises'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { HelperProcess } from '@gateway/core/processes/helper-process.js'
import { MAX_STYLE_BYTES } from '@gateway/styles/validate.js'
import type { ControlContext } from '../../platform/context.js'
import type { CheckAnswer, CheckTask } from './check-process.js'

/** The built file, even when the sources run (in tests). */
const CHECK_PROCESS = new URL('../../../dist/catalog/styles/check-process.js', import.meta.url)

/** Limit of a check. The largest accepted styles take some seconds. */
const CHECK_SECONDS = 60

/**
 * Refuses an invalid style. Replaces URLs of this gateway, which an editor has inserted, by `gateway://` URLs. A process does the work, since
 * the largest styles take seconds.
 */
export async function checkDocument(ctx: ControlContext, file: string, code: string): Promise<Refusal | null> {
  if ((await stat(file)).size > MAX_STYLE_BYTES)
    return refuse('payload_too_large', coded('body_larger_than', { limit: MAX_STYLE_BYTES }))
  const { tilePublicBaseUrl: tileBase, vectorPublicBaseUrl: vectorBase } = ctx.settings
  const helper = new HelperProcess<CheckTask, CheckAnswer>(CHECK_PROCESS)
  try {
    const task = { file, code, bases: { tileBase, vectorBase } }
    const answer = await helper.askWithin(task, CHECK_SECONDS * 1000, ctx.shutdown)
    if (answer === null) return refuse('invalid_parameters', coded('style_check_late', { seconds: CHECK_SECONDS }))
    if (!answer.ok) {
      const problems = answer.problems.map(({ line, message }) =>
        line === null ? message : `line ${line}: ${message}`,
      )
      return refuse('invalid_parameters', coded('style_import_invalid', { problems: problems.join('; ') }))
    }
    if (answer.document !== null) await writeFile(file, answer.document)
    return null
  } finally {
    helper.end()
  }
}
