import { TextInput } from '@mantine/core'
import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'

/** Says what is wrong with a code, by the check of the service; null: nothing. */
export function codeProblem(code: string, wrongIn: (code: string) => string | null, { common }: Texts): string | null {
  if (code.trim() === '') return common.codeNeeded
  const wrong = wrongIn(code)
  return wrong === null ? null : common.codeWrong(wrong === '\\' ? wrong : JSON.stringify(wrong).slice(1, -1))
}

interface CodeAndNameProps {
  readonly form: { getInputProps(path: 'code' | 'name'): object }
  readonly codeHint: string
  /** true for an existing object, whose code cannot change */
  readonly codeFixed: boolean
}

/** Code and name, the first fields of the forms for sources and targets. */
export function CodeAndName({ form, codeHint, codeFixed }: CodeAndNameProps) {
  const t = useTexts().common
  return (
    <>
      <TextInput
        label={t.code}
        description={codeHint}
        required
        disabled={codeFixed}
        autoComplete="off"
        {...form.getInputProps('code')}
      />
      <TextInput label={`${t.name} (${t.optional})`} autoComplete="off" {...form.getInputProps('name')} />
    </>
  )
}
