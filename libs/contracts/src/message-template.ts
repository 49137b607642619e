/** A text with `{name}` for each parameter. For a pair, `one` is used if the parameter `count` is 1. */
export type MessageTemplate = string | { readonly one: string; readonly many: string }

/** Texts of one language by their codes. */
export type MessageTexts = Readonly<Partial<Record<string, MessageTemplate>>>

/**
 * Fills a template of any language. A parameter of `{@name}` is the code of another text, or several with `; ` between them. Text that looks like a
 * parameter without a value stays: `{z}/{x}/{y}` is part of a text.
 */
export function fillTemplate(
  template: MessageTemplate,
  params: Readonly<Record<string, string | number>>,
  texts: MessageTexts = {},
): string {
  const text = typeof template === 'string' ? template : params.count === 1 ? template.one : template.many
  return text.replace(/\{(@?)(\w+)\}/g, (whole, isCode: string, name: string) => {
    if (!Object.hasOwn(params, name)) return whole
    const value = String(params[name])
    return isCode === ''
      ? value
      : value
          .split('; ')
          .map((code) => clause(code, texts))
          .join('; ')
  })
}

function clause(code: string, texts: MessageTexts): string {
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined
  return typeof text === 'string' ? text : code
}
