import { expect, it } from 'vitest'
import { evenPlot, sizePlot } from './curve-plot.js'
import type { Taken } from './summary.js'

const MACHINE = 'a processor, a kernel'

const sample = (workload: string, peer: string) =>
  ({ workload, peer, round: 1, requestsPerSecond: 100, p99: 2 }) as unknown as Taken

it('even access is drawn as one line per server and storage in each panel, files of a file server only once', () => {
  const drawn = evenPlot(
    [
      sample('even-1', 'edge'),
      sample('even-20', 'edge'),
      sample('even-1', 'nginx'),
      sample('evenpm-1', 'edge'),
      sample('evenpm-1', 'nginx'),
    ],
    MACHINE,
  )
  expect(drawn?.match(/<polyline/g)).toHaveLength(2 * 3)
  expect(drawn).toContain('edge, PMTiles')
  expect(drawn).not.toContain('nginx, PMTiles')
})

it('nothing is drawn without measurements', () => {
  expect(evenPlot([sample('mix', 'edge')], MACHINE)).toBeNull()
})

it('sizes are drawn as multiples of nginx in the same round', () => {
  const drawn = sizePlot(
    [sample('size-8k', 'edge'), sample('size-8k', 'nginx'), sample('sizepm-8k', 'edge'), sample('sizepm-8k', 'nginx')],
    MACHINE,
  )
  expect(drawn?.match(/<polyline/g)).toHaveLength(2 * 3)
  expect(drawn).toContain('edge, PMTiles')
  expect(drawn).not.toContain('NaN')
  expect(drawn).toContain(MACHINE)
})
