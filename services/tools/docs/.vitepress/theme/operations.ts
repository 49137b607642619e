import { defineComponent, h, onMounted, shallowRef } from 'vue'

interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** The operations of the gateway that serves this page, by its own OpenAPI document. */
export const Operations = defineComponent({
  name: 'Operations',
  setup() {
    const rows = shallowRef<readonly (readonly [tag: string, method: string, path: string, summary: string])[]>([])
    const state = shallowRef('Reading /api/v1/openapi.json ...')
    onMounted(async () => {
      try {
        const answer = await fetch('/api/v1/openapi.json')
        if (!answer.ok) throw new Error(`answered ${answer.status}`)
        const { paths } = (await answer.json()) as { paths: Paths }
        rows.value = Object.entries(paths).flatMap(([path, operations]) =>
          Object.entries(operations)
            .filter(([method]) => METHODS.has(method))
            .map(
              ([method, { summary = '', tags = [] }]) => [tags[0] ?? '', method.toUpperCase(), path, summary] as const,
            ),
        )
        state.value = ''
      } catch (error) {
        state.value = `/api/v1/openapi.json cannot be read (${(error as Error).message}). It is available if a gateway serves this page.`
      }
    })
    return () => [
      state.value && h('p', { role: 'status' }, state.value),
      ...[...new Set(rows.value.map(([tag]) => tag))].flatMap((tag) => [
        h('h3', tag),
        h('table', { tabindex: 0 }, [
          h(
            'thead',
            h(
              'tr',
              ['Operation', 'What'].map((text) => h('th', text)),
            ),
          ),
          h(
            'tbody',
            rows.value
              .filter(([of]) => of === tag)
              .map(([, method, path, summary]) => h('tr', [h('td', h('code', `${method} ${path}`)), h('td', summary)])),
          ),
        ]),
      ]),
    ]
  },
})

const METHODS = new Set(['get', 'put', 'post', 'patch', 'delete'])
