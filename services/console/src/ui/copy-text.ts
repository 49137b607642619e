/** Copies a text. Uses a selection outside of secure contexts (plain HTTP from another host), where browsers offer no clipboard. */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext && navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'off-screen'
  // An open dialog's focus trap takes the selection back from any element outside of it.
  const place = document.querySelector('[role="dialog"]') ?? document.body
  place.append(area)
  const focused = document.activeElement
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
