import type { Warning } from '@gateway/contracts/warning.js'
import { notifications } from '@mantine/notifications'
import { createElement } from 'react'
import { Failure } from './problem.js'
import { ServerText } from './server-text.js'

/** Shows a temporary message about a success, and announces it to screen readers. */
export function notifyDone(title: string, message = ''): void {
  notifications.show({ title, message, color: 'teal', role: 'status' } as never)
}

export function notifyInfo(title: string, message: string): void {
  notifications.show({ title, message, color: 'blue', role: 'status' } as never)
}

/** Shows an error with its remedy. It stays until it is closed, or until the same action fails again. */
export function notifyFailed(title: string, error: unknown): void {
  const message = createElement(Failure, { error })
  notifications.hide(title)
  notifications.show({ id: title, title, message, color: 'red', autoClose: false })
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
