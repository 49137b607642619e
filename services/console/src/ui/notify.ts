import type { Warning } from '@gateway/contracts/warning.js'
import { notifications } from '@mantine/notifications'
import { createElement } from 'react'
import { ErrorText, ServerText } from './server-text.js'

/** Shows a temporary message about a success, and announces it to screen readers. */
export function notifyDone(title: string, message = ''): void {
  notifications.show({ title, message, color: 'teal', role: 'status' } as never)
}

export function notifyInfo(title: string, message: string): void {
  notifications.show({ title, message, color: 'blue', role: 'status' } as never)
}

/** Shows a message that stays until it is closed. */
export function notifyFailed(title: string, error: unknown): void {
  const message = createElement(ErrorText, { error })
  notifications.show({ title, message, color: 'red', autoClose: false })
}

/** Shows a warning about accepted but probably unintended input. It stays until it is closed. */
export function notifyWarning(title: string, { code, message, params }: Warning): void {
  notifications.show({
    title,
    message: createElement(ServerText, { text: message, code, params }),
    color: 'yellow',
    autoClose: false,
  })
}
