import { TextInput } from '@mantine/core'
import { useTexts } from '../texts/texts.js'

/** The service's check of the code of a scan source or target; see `codeSchema` of the contracts. */
export const CODE = /^[^.*/\\\s][^/\\\s]*$/

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
