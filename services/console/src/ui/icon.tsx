import type { ComponentType, SVGProps } from 'react'

interface IconProps extends Omit<SVGProps<SVGSVGElement>, 'stroke'> {
  /** Width and height in CSS pixels. */
  readonly size?: number | string
  /** Width of the lines, in units of a drawing 24 wide. */
  readonly stroke?: number
}

export type Icon = ComponentType<IconProps>

/** Makes the component of an icon. The modules `~icons/NAME`, which `icons-plugin.mjs` generates, call it with the icon's lines. */
export function icon(lines: readonly string[]): Icon {
  return ({ size = 24, stroke = 2, ...rest }) => (
    <svg
      aria-hidden
      xmlns="http://www.w3.org/2000/svg"
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={stroke}
      strokeLinecap="round"
      strokeLinejoin="round"
      {...rest}
    >
      {lines.map((line) => (
        <path key={line} d={line} />
      ))}
    </svg>
  )
}
