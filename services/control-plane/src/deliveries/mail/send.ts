import { coded, messageOfError } from '@gateway/contracts/messages.js'
import { failure, type Outcome, success } from '../outcome.js'

export interface MailSettings {
  /** `smtp://` or `smtps://`, with the credentials of the server */
  readonly url: string | null
  /** address of the sender */
  readonly from: string | null
}

/** Time after which a silent server has failed; the same as for a webhook. */
const TIMEOUT_MS = 10_000
/** Maximum number of lines in a message. */
const MAX_ITEMS = 50

interface Told {
  readonly subject?: unknown
  readonly count?: unknown
  readonly items?: readonly { readonly name?: unknown; readonly message?: unknown }[]
  readonly console_url?: unknown
}

/** Sends one message as plain text, by SMTP. A line break in a name cannot start another header, since nodemailer encodes headers. */
export async function sendMail({ url, from }: MailSettings, to: string, event: unknown): Promise<Outcome> {
  if (url === null || from === null) return failure(coded('notification_no_smtp'))
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const told = event as Told
  try {
    await transport.sendMail({ from, to, subject: oneLine(told.subject), text: textOf(told) })
    return success(coded('notification_mailed'))
  } catch (error) {
    return failure(messageOfError(error))
  } finally {
    transport.close()
  }
}

function textOf({ subject, items = [], count, console_url: console }: Told): string {
  const lines = items.slice(0, MAX_ITEMS).map(({ name, message }) => {
    const why = oneLine(message)
    return `- ${oneLine(name)}${why === '' ? '' : `: ${why}`}`
  })
  const more = Number(count) - lines.length
  return [oneLine(subject), '', ...lines, ...(more > 0 ? [`… and ${more} more`] : []), '', String(console ?? '')].join(
    '\n',
  )
}

function oneLine(text: unknown): string {
  return String(text ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
