const rules = new Intl.PluralRules('en')
const numbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** `1 version`, `5,011 versions` */
export function counted(n: number, one: string, other = `${one}s`): string {
  return `${numbers.format(n)} ${rules.select(n) === 'one' ? one : other}`
}
