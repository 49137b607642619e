import type { MessageTemplate } from '@gateway/contracts/message-template.js'

export type MessageTexts = Readonly<Partial<Record<string, MessageTemplate>>>

/** Fills the template of a coded message in the same way as the service. A parameter without a value stays in the text. */
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
