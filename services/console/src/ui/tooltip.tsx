import { Tooltip as Floating, type TooltipProps } from '@mantine/core'

interface OpenTooltipProps extends Pick<TooltipProps, 'label' | 'multiline' | 'maw' | 'className'> {
  readonly id: string
  readonly target: HTMLElement
}

/** The tooltip of an element that is pointed at. */
export default function OpenTooltip(props: OpenTooltipProps) {
  return <Floating opened {...props} />
}
