import { TextInput } from '@mantine/core'
import { useTexts } from '../texts/texts.js'

/** As the service checks the code of a scan source or target; see `codeSchema` of the contracts. */
export const CODE = /^[^.*/\\\s][^/\\\s]*$/

interface CodeAndNameProps {
  readonly form: { getInputProps(path: 'code' | 'name'): object }
  readonly codeHint: string
  /** the code of what is there already stays */
  readonly codeFixed: boolean
}

/** By what an operator's own things are known: the first fields of their forms. */
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
