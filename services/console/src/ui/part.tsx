import { Alert, Button, Stack, Text } from '@mantine/core'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import IconAlertTriangle from '~icons/alert-triangle'
import { useLiveState } from '../api/live-state.js'
import { useTexts } from '../texts/texts.js'

interface PartOptions<P> {
  /** shown until the code has arrived; without it: nothing */
  readonly Pending?: ComponentType<P>
  /** true for a part that nobody misses, such as a tooltip: a failure to load it shows nothing */
  readonly isOptional?: boolean
}

type Part<P> = ((props: P) => ReactNode) & {
  /** Loads the code before the part is shown. Never rejects. */
  readonly prepare: () => Promise<void>
}

/**
 * A part of a page whose code is loaded when it is first shown. A failure to load it is shown in its place, with a button that tries again. The
 * rest of the page stays as it is, because it may be a form with input.
 */
export function part<P extends object>(load: () => Promise<ComponentType<P>>, options: PartOptions<P> = {}): Part<P> {
  const { Pending, isOptional = false } = options
  let loaded: ComponentType<P> | null = null
  let loading: Promise<unknown> | null = null

  /** Resolves to null, or to the error. A failed attempt is forgotten, so that the next one tries again. */
  const attempt = async (): Promise<unknown> => {
    try {
      loaded = await load()
      return null
    } catch (error) {
      return error
    } finally {
      loading = null
    }
  }
  const begin = (): Promise<unknown> => {
    loading ??= loaded === null ? attempt() : Promise.resolve(null)
    return loading
  }

  function Shown(props: P) {
    const [attempts, setAttempts] = useState(0)
    const [result, setResult] = useState<{ readonly error: unknown } | null>(null)
    const Loaded = loaded
    const isMissing = Loaded === null
    // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads again
    useEffect(() => {
      // The code may have arrived since it was rendered without it.
      if (!isMissing) return
      let isShown = true
      void begin().then((error) => isShown && setResult({ error }))
      return () => {
        isShown = false
      }
    }, [attempts])
    if (Loaded !== null) return <Loaded {...props} />
    if (result?.error == null) return Pending === undefined ? null : <Pending {...props} />
    const retry = () => {
      setResult(null)
      setAttempts(attempts + 1)
    }
    return isOptional ? null : <NotLoaded onRetry={retry} />
  }
  return Object.assign(Shown, { prepare: async () => void (await begin()) })
}

/** A service that responds and does not have the file has replaced the console by another version. */
function NotLoaded({ onRetry }: { readonly onRetry: () => void }) {
  const t = useTexts()
  const advice = useLiveState() === 'live' ? t.problem.outdated : t.problem.unreachable
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={t.problem.notLoadedPart} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{advice}</Text>
        <Button size="xs" variant="default" onClick={onRetry}>
          {t.common.retry}
        </Button>
      </Stack>
    </Alert>
  )
}
