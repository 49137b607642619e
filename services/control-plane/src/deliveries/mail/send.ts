import { coded, messageOfError } from '@gateway/contracts/messages.js'
import { createTransport } from 'nodemailer'
import { failure, type Outcome, success } from '../outcome.js'

export interface MailSettings {
  /** `smtp://` or `smtps://`, with the credentials of the server */
  readonly url: string | null
  /** the sender */
  readonly from: string | null
}

/** A server that says nothing for so long has failed; as for a webhook. */
const TIMEOUT_MS = 10_000
/** Limit: of a message's lines. */
const MAX_ITEMS = 50

interface Told {
  readonly subject?: unknown
  readonly count?: unknown
  readonly items?: readonly { readonly name?: unknown; readonly message?: unknown }[]
  readonly console_url?: unknown
}

/** One message as plain text, by SMTP. A line break in a name cannot begin another header: nodemailer encodes headers. */
export async function sendMail({ url, from }: MailSettings, to: string, event: unknown): Promise<Outcome> {
  if (url === null || from === null) return failure(coded('notification_no_smtp'))
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
