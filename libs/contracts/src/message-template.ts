/** A text with `{name}` for each parameter; of a pair, `one` is taken if the parameter `count` is 1. */
export type MessageTemplate = string | { readonly one: string; readonly many: string }

/** Fills a template of any language. What looks like a parameter and has no value stays: `{z}/{x}/{y}` is part of a text. */
export function fillTemplate(template: MessageTemplate, params: Readonly<Record<string, string | number>>): string {
  const text = typeof template === 'string' ? template : params.count === 1 ? template.one : template.many
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : whole,
  )
}
