/** The logo of the console: a folded map. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" className="mark">
      <rect width="32" height="32" rx="7" fill="var(--mantine-color-sea-7)" />
      <g fill="#fff">
        <path d="M7 9.5 13 7v15.5L7 25z" opacity=".95" />
        <path d="M13 7l6 2.5V25l-6-2.5z" opacity=".7" />
        <path d="M19 9.5 25 7v15.5L19 25z" opacity=".95" />
      </g>
    </svg>
  )
}
