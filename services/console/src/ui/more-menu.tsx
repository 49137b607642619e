import type { Role } from '@gateway/contracts/operator.js'
import { ActionIcon, Stack } from '@mantine/core'
import { type ReactNode, useId, useRef } from 'react'
import IconDots from '~icons/dots'
import { useAllowed } from '../api/session.js'
import { useTexts } from '../texts/texts.js'

interface MoreMenuProps {
  /** the least role that any of its buttons needs: others do not see it */
  readonly needs: Role
  /** whose actions they are, where the page has many */
  readonly of?: string
  /** buttons; their dialogs stay open when the menu closes */
  readonly children: ReactNode
}

/** Gap between the button and its menu in pixels. */
const GAP = 4

/**
 * Actions that are rare or destructive. The extra click prevents mistakes. Uses the browser's popover, which closes with `display` and so
 * keeps the buttons' dialogs. The popover of the component library would unmount the components that the dialogs wait for.
 */
export function MoreMenu({ needs, of, children }: MoreMenuProps) {
  const isAllowed = useAllowed(needs)
  const t = useTexts().work
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const label = of === undefined ? t.more : t.actionsFor(of)
  const place = () => {
    const box = button.current?.getBoundingClientRect()
    if (box === undefined || menu.current === null) return
    // The height of a closed menu is unknown. It opens to the side with more room.
    const above = box.top + box.bottom > window.innerHeight
    menu.current.style.top = above ? 'auto' : `${box.bottom + GAP}px`
    menu.current.style.bottom = above ? `${window.innerHeight - box.top + GAP}px` : 'auto'
    menu.current.style.right = `${document.documentElement.clientWidth - box.right}px`
  }
  if (!isAllowed) return null
  return (
    <>
      <ActionIcon
        ref={button}
        variant={of === undefined ? 'default' : 'subtle'}
        color="gray"
        size={of === undefined ? 36 : 30}
        aria-label={label}
        title={label}
        popoverTarget={id}
      >
        <IconDots size={18} />
      </ActionIcon>
      <div id={id} ref={menu} popover="auto" className="more-menu" onBeforeToggle={place}>
        <Stack gap="xs" align="stretch" onClick={() => menu.current?.hidePopover()}>
          {children}
        </Stack>
      </div>
    </>
  )
}
