import { ActionIcon } from '@mantine/core'
import IconAdjustments from '~icons/adjustments'
import { useTexts } from '../texts/texts.js'

/** The button that opens the options of a list. */
export function OptionsButton(props: { readonly onClick: () => void }) {
  const t = useTexts().work.list
  return (
    <ActionIcon
      variant="default"
      size={36}
      aria-label={t.options}
      title={t.options}
      className="list-options"
      {...props}
    >
      <IconAdjustments size={18} stroke={1.6} />
    </ActionIcon>
  )
}
