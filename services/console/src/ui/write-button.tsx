import type { Role } from '@gateway/contracts/operator.js'
import { Button, type ButtonProps } from '@mantine/core'
import type { ComponentPropsWithoutRef } from 'react'
import { useLiveState } from '../api/live-state.js'
import { useAllowed } from '../api/session.js'
import { useTexts } from '../texts/texts.js'
import type { Icon } from './icon.js'
import { buttonIcon } from './links.js'
import { notifyFailed } from './notify.js'
import { reported } from './reported.js'

export interface WriteButtonProps
  extends Omit<ButtonProps, 'leftSection'>,
    Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> {
  /** role that it needs; users with a lower role do not see it */
  readonly needs: Role
  readonly icon?: Icon
  readonly spinning?: boolean
}

/** A button that changes something. Disabled while the service does not respond, since nobody would see the outcome. */
export function WriteButton({ needs, disabled, icon, spinning = false, ...props }: WriteButtonProps) {
  const t = useTexts()
  const away = useLiveState() === 'away'
  if (!useAllowed(needs)) return null
  return (
    <Button
      leftSection={buttonIcon(icon, spinning ? 'spin' : '')}
      {...props}
      disabled={disabled || away}
      {...(away && { title: t.nav.noWrites })}
    />
  )
}

interface ActionButtonProps<T> extends Omit<WriteButtonProps, 'loading' | 'onClick'> {
  readonly write: {
    readonly isPending: boolean
    readonly mutateAsync: (variables: undefined) => Promise<T>
  }
  readonly onDone: (result: T) => void
  /** title of the message of a failure */
  readonly failed: string
}

/** A change that needs no confirmation. */
export function ActionButton<T>({ write, onDone, failed, ...look }: ActionButtonProps<T>) {
  const run = () => reported(write.mutateAsync(undefined), onDone, (error) => notifyFailed(failed, error))
  return <WriteButton {...look} loading={write.isPending} onClick={run} />
}
