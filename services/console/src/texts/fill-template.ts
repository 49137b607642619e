import type { MessageTemplate } from '@gateway/contracts/message-template.js'

/** Fills the template of a coded message as the service fills its own. What looks like a parameter and has no value stays. */
export function fillTemplate(template: MessageTemplate, params: Readonly<Record<string, string | number>>): string {
  const text = typeof template === 'string' ? template : params.count === 1 ? template.one : template.many
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : whole,
  )
}
