import { ActionIcon, Popover, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTexts } from '../texts/texts.js'

interface MoreMenuProps {
  /** whose actions they are, where the page has many */
  readonly of?: string
  /** buttons; their dialogs stay open when the menu closes */
  readonly children: ReactNode
}

/** Actions that are rare or take something away: one more press, so that nobody hits them by mistake. */
export function MoreMenu({ of, children }: MoreMenuProps) {
  const t = useTexts().work
  const [opened, { toggle, close }] = useDisclosure()
  const label = of === undefined ? t.more : t.actionsFor(of)
  return (
    <Popover opened={opened} onChange={close} position="bottom-end" shadow="md" keepMounted returnFocus>
      <Popover.Target>
        <ActionIcon
          variant={of === undefined ? 'default' : 'subtle'}
          color="gray"
          size={of === undefined ? 36 : 30}
          aria-label={label}
          title={label}
          onClick={toggle}
        >
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p="xs" onClick={close}>
        <Stack gap="xs" align="stretch">
          {children}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
