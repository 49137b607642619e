import { fillTemplate, type MessageTexts } from '@gateway/contracts/message-template.js'
import type { MessageCode, MessageParams } from '@gateway/contracts/messages.js'
import type { ReactNode } from 'react'
import { ApiError, type SaidMessage } from '../api/client.js'
import { useTexts } from '../texts/texts.js'

export interface ServerMessage {
  /** in English */
  readonly text: string
  /** code of the text, if the service sends it */
  readonly code?: string | null | undefined
  readonly params?: MessageParams | null | undefined
}

/** Translates a message of the service. One without a code, of an older version, stays unchanged. */
function useServerWords(): (message: ServerMessage) => string {
  const { messages } = useTexts()
  return ({ text, code, params }) => {
    const template = code ? messages[code as MessageCode] : undefined
    return template === undefined ? text : fillTemplate(template, params ?? {}, messages)
  }
}

/** Shows the translation, with the service's own words on demand, since logs and manuals use them. */
export function ServerText(message: ServerMessage): ReactNode {
  const shown = useServerWords()(message)
  return shown === message.text ? shown : <span title={message.text}>{shown}</span>
}

/** Shows the message of an error, translated as far as it is known. */
export function ErrorText({ error }: { error: unknown }): ReactNode {
  const { messages } = useTexts()
  const message = error instanceof Error ? error.message : String(error)
  const shown = error instanceof ApiError ? saidIn(error.said, messages) : null
  return shown === null ? <ServerText text={message} /> : <span title={message}>{shown}</span>
}

/** Translates a refusal; null: one of its messages is unknown. */
function saidIn(said: readonly SaidMessage[], texts: MessageTexts): string | null {
  const each = said.map(([code, params]) => {
    const template = texts[code]
    return template === undefined ? null : fillTemplate(template, params, texts)
  })
  return each.length === 0 || each.includes(null) ? null : each.join('；')
}
