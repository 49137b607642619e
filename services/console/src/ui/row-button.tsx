import { ActionIcon } from '@mantine/core'
import type { Icon } from './icon.js'

interface RowButtonProps {
  readonly icon: Icon
  readonly label: string
  /** null: it can do nothing now */
  readonly onClick: (() => void) | null
}

/** A small button of a row, such as one that moves it. */
export function RowButton({ icon: Icon, label, onClick }: RowButtonProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={label}
      title={label}
      disabled={onClick === null}
      onClick={() => onClick?.()}
    >
      <Icon size={15} />
    </ActionIcon>
  )
}
