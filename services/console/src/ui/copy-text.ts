/** Copies; outside of secure contexts (plain HTTP from another host), where browsers offer no clipboard, by way of a selection. */
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
  // Inside an open dialog, whose focus trap takes the selection back from anywhere else.
  const place = document.querySelector('[role="dialog"]') ?? document.body
  place.append(area)
  const focused = document.activeElement
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
